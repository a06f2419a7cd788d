"""What each number of a card means and how it was computed, a sentence each."""

from __future__ import annotations

from hyperlens.surrogates.quality import FAIR_R2, GOOD_R2

BEST = "The best measured value among the complete trials, exactly as the run recorded it."
TRIALS = (
    "All trials of the run; analysed are the complete ones with a finite result, at one budget."
)
MATTERS = (
    "The parameter or pair with the largest share: the part of the variance of the surrogate's "
    "prediction over the whole space that is due to it (functional ANOVA)."
)
PRIMARY = (
    "The verdict on the surrogate that cross-validates better and that the numbers of this page come "
    "from; both are on the card of the method."
)
SURROGATES = (
    "The verdict on a surrogate, cross-validated on the trials: trust from R² "
    f"{GOOD_R2:g} on with a band that holds, caution from {FAIR_R2:g} on, else do not trust."
)
BEST_VALUE = "The value in the best trial, as the run recorded it."
VERDICT = (
    "The surrogate was fitted to parts of the trials and asked for the rest: R² is the part of their "
    "variance it predicts, coverage how often its 95 % band held them. It can be trusted from R² "
    f"{GOOD_R2:g} on with a band that holds, with caution from {FAIR_R2:g} on."
)
LASTED = "From the earliest recorded start of a trial to the latest recorded end."
LANES = "The largest number of trials whose times overlap."
USED = "The time of all trials together, divided by the run's length times the most trials at once."

ENDED = "How many trials the run recorded in this state, or with this reason."
ENDED_PART = "The same, divided by the number of all trials of the run."

SHARE = (
    "Variance of the effect over the whole space, divided by the variance of everything the "
    "surrogate predicts (functional ANOVA, exact on the surrogate)."
)
SPREAD = "Standard deviation of the share over {of}: how much the surrogate itself wavers."
INTERVAL = (
    "Where the share would lie if the run were repeated with other trials, at this level: from "
    "refits on random parts of the data."
)
RANK = "Between which places this effect stays when the surrogate is fitted to parts of the data."
SECONDARY = "The share that the other surrogate gives, which cross-validates less well."

H = (
    "Friedman's H: the root of the part of the pair's joint variance that is not the sum of the two "
    "single effects; 0 is additive, 1 is only together."
)
PAIR_SHARE = "The part of the whole variance that the pair has beyond its two single effects."

DEFAULT = (
    "The default as the search space gives it; where it gives none, the middle of a range on its own "
    "scale, or the first category."
)
STEP = (
    "What changing this value does to the prediction, after the changes above it were made already."
)
STEP_SHAPLEY = "Shapley value: what the change does on average over all orders of changing values."
STEP_COST = "The surrogate's prediction after this change and all above it."
LOCAL_SHARE = (
    "Variance of the prediction when only this parameter moves over its range, divided by the sum of "
    "those of all parameters."
)
LOCAL_BEST = (
    "The best prediction while only this parameter moves, and the value at which it is reached."
)

REGION_SHARE = "Part of the space in which the parameter is active."
REGION_TRIALS = "How many analysed trials lie in the region."
REGION_STD = (
    "Standard deviation of the surrogate's prediction, averaged over the parameter's grid and over "
    "the region: how surely the effect is known there."
)
REGION = (
    "Part of the space that the region takes, how many analysed trials lie in it, and the "
    "surrogate's mean standard deviation along the parameter there: the smaller, the surer."
)
MMD = (
    "Maximum mean discrepancy between the evaluated values and an even sample: 0 is even, about 1 "
    "is a single point."
)
P = "How often an even search would look at least as uneven, from permutations; small means uneven."

MODEL_TRIALS = "How many trials the search gave to this model at this budget."
MODEL_SECONDS = "Recorded seconds of these trials together."
MODEL_BEST = "Best measured value of the complete ones among these trials."

R2 = (
    "Part of the variance of trials it had not seen that the surrogate predicts (cross-validation)."
)
RANK_CORRELATION = "Spearman's correlation of predicted and measured values of unseen trials."
COVERAGE = "How often the surrogate's 95 % band held a trial it had not seen; 95 % would be right."
FOLDS = "In how many parts the trials were divided for cross-validation."

RUN_TRIALS = "Complete trials with a finite result."
RUN_BEST = "Best measured value of the whole run."
RUN_COMMON = (
    "Best measured value after as many trials as the shortest run has: the fair comparison."
)

CONTRIBUTION = (
    "Shapley value: what this value of the parameter adds to the prediction, averaged over all orders "
    "in which the proposal's values can replace those of an average configuration."
)
BOUND = "The confidence bound that the search optimises: mean and tau times uncertainty together."
PAYOUT = (
    "The proposal's own prediction minus the average over the space; contributions add up to it."
)
PREDICTED = "What the surrogate expected of this configuration before it was tried."
UNCERTAIN = "Standard deviation of that prediction: how unsure the surrogate was."

NUMBER = "As the run numbered it, or its place in the file."
VALUE = "The parameter's value as the run recorded it; empty where it was inactive."
COST = "As the run measured it."
BUDGET = "What the trial was given, for instance epochs, as the run recorded it."
SECONDS = "From the recorded start of the trial to its recorded end."

AVERAGE_RANK = "The method's rank on each data set, averaged; 1 is best, equals share their ranks."
PAIR_COUNTS = (
    "On how many data sets both were measured.",
    "On how many of them the first is better.",
    "On how many of them the second is better.",
    "On how many of them they are equal.",
)
PAIR_NUMBERS = (
    "Hodges and Lehmann's estimate of the median of the first minus the second.",
    "Where that median lies, for this pair alone.",
    "Matched-pairs rank-biserial correlation: 1 where the first is better everywhere, -1 where the "
    "second is.",
    "Wilcoxon's signed-rank test of this pair alone.",
    "The same, adjusted for the number of pairs.",
)
