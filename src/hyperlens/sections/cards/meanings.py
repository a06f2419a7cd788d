"""What each number of a card means and how it was computed, a sentence each."""

from hyperlens.explain.models.support import FEW, LARGE
from hyperlens.surrogates.quality import FAIR_R2, GOOD_R2

BEST = "The best measured value among the complete trials, exactly as the run recorded it."
TRIALS = (
    "All trials of the run; analysed are the complete ones with a finite result, at one budget."
)
FRONT = (
    "Trials that no other one beats: none is at least as good in all objectives and better in one. The "
    "knee is the one with the smallest sum of costs, each as a part of the front's own range."
)
MATTERS = (
    "The parameter or pair with the largest share: the part of the variance of the surrogate's "
    "prediction over the whole space that is due to it (functional ANOVA)."
)
SURROGATES = (
    "The verdict on a surrogate, cross-validated on the trials: trust from R² "
    f"{GOOD_R2:g} on with a band that holds, caution from {FAIR_R2:g} on, else do not trust."
)
VERDICT = (
    "The verdict on what this card shows; its weakest point decides. Trust needs a surrogate that "
    f"predicts unseen trials (R² {GOOD_R2:g} or more, {FAIR_R2:g} for caution), trials all over what is "
    f"shown ({FEW} or more of each category and of each {LARGE:g} of a range), most trials learnt from, "
    "a narrow interval, and a second surrogate that agrees."
)
REGION = (
    "Part of the space that the region takes, how many analysed trials lie in it, and the "
    "surrogate's mean standard deviation along the parameter there: the smaller, the surer."
)
LASTED = "From the earliest recorded start of a trial to the latest recorded end."
LANES = "The largest number of trials whose times overlap."
USED = "The time of all trials together, divided by the run's length times the most trials at once."

PAYOUT = (
    "The proposal's own prediction minus the average over the space; contributions add up to it."
)
PREDICTED = "What the surrogate expected of this configuration before it was tried."
UNCERTAIN = "Standard deviation of that prediction: how uncertain the surrogate was."

NUMBER = "As the run numbered it, or its place in the file."
VALUE = "The parameter's value as the run recorded it; empty where it was inactive."
COST = "As the run measured it."
BUDGET = "What the trial was given, for instance epochs, as the run recorded it."
SECONDS = "From the recorded start of the trial to its recorded end."
