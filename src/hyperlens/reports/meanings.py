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
SURROGATES = (
    "The worse verdict of the two surrogates, each cross-validated on the trials: trust from R² "
    f"{GOOD_R2:g} on with a band that holds, caution from {FAIR_R2:g} on, else do not trust."
)
LANES = "The largest number of trials whose times overlap."
USED = "The time of all trials together, divided by the run's length times the most trials at once."

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
WITNESS = "The share that the other surrogate gives, which cross-validates less well."

H = (
    "Friedman's H: the root of the part of the pair's joint variance that is not the sum of the two "
    "single effects; 0 is additive, 1 is only together."
)
PAIR_SHARE = "The part of the whole variance that the pair has beyond its two single effects."

REGION_STD = (
    "Standard deviation of the surrogate's prediction, averaged over the parameter's grid and over "
    "the region: how surely the effect is known there."
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

COST = "As the run measured it."
BUDGET = "What the trial was given, for instance epochs, as the run recorded it."
SECONDS = "From the recorded start of the trial to its recorded end."
