"""Which way an objective goes: as the run records it, as the user says, or as its name suggests."""

import re

from hyperlens.errors import SourceError
from hyperlens.importers.read_options import ReadOptions
from hyperlens.runs.history import Objective

_LARGER = {
    *("acc", "accuracy", "auc", "auroc", "auprc", "bleu", "dice", "f1", "fbeta", "fps", "gain"),
    *("iou", "kappa", "likelihood", "map", "mcc", "miou", "mrr", "ndcg", "precision", "profit"),
    *("psnr", "r2", "recall", "return", "reward", "rouge", "score", "ssim", "throughput"),
}
_SMALLER = {
    *("brier", "cost", "distance", "err", "error", "fid", "latency", "loss", "mae", "mape", "mse"),
    *("neg", "negative", "nll", "perplexity", "regret", "rmse", "time", "wer"),
}
# words that alone name a result; others, such as cost, gain or precision, are often parameters
_RESULTS = {
    *("acc", "accuracy", "auc", "auprc", "auroc", "bleu", "brier", "error", "f1", "iou", "latency"),
    *(
        "loss",
        "mae",
        "mape",
        "mcc",
        "miou",
        "mrr",
        "mse",
        "ndcg",
        "nll",
        "perplexity",
        "psnr",
        "r2",
    ),
    *("recall", "reward", "rmse", "rouge", "score", "ssim", "throughput", "wer"),
}
_OF_RESULTS = {  # what a result is of, where its name begins so
    *("avg", "best", "cv", "dev", "eval", "evaluation", "final", "holdout", "mean", "std", "test"),
    *("train", "training", "val", "valid", "validation"),
}


def directed(
    objective: Objective,
    recorded: bool,
    options: ReadOptions,
    first: bool,
    notes: list[str],
    what: str,
) -> Objective:
    """An objective in the direction that is recorded, that the user gave, or minimised."""
    maximize = options.direction(objective.name, first)
    if not recorded:
        if maximize is not None:
            return Objective(objective.name, maximize)
        notes += _doubts(objective.name, options.lenient)
    elif maximize is not None and maximize != objective.maximize:
        raise SourceError(
            f"{what[:1].upper()}{what[1:]} says that '{objective.name}' is {objective.direction}; "
            "leave out the direction."
        )
    return objective


def _doubts(name: str, lenient: bool) -> list[str]:
    """What to say of an objective whose direction nothing tells; an error if its name doubts it.

    A loss, a cost or an error is minimised, which its name says.
    """
    words = _words(name)
    if words & _SMALLER or name.strip().startswith(("1 -", "1-", "-")):
        return []
    if not words & _LARGER:
        return [
            f"'{name}' is taken as minimised, since the run does not say; add --maximize "
            "(maximize=True in Python) if larger is better."
        ]
    sentence = (
        f"The run does not say whether '{name}' was minimised or maximised, and its name sounds like "
        "the latter; add --maximize or --minimize (maximize=True or False in Python)."
    )
    if not lenient:
        raise SourceError(sentence)
    return [sentence]


def measured(name: str) -> bool:
    """Whether a column is called like something that is measured."""
    return bool(_words(name) & (_LARGER | _SMALLER))


def is_result(name: str) -> bool:
    """Whether a column of numbers is called like a result, and not like something that is set.

    >>> [is_result(name) for name in ("test_loss", "valAccuracy", "rmse", "loss_weight", "cost")]
    [True, True, True, False, False]
    """
    words = _in_order(name)
    if len(words) == 1:
        return words[0] in _RESULTS
    return bool(words) and words[0] in _OF_RESULTS and words[-1] in _LARGER | _SMALLER


def _words(name: str) -> set[str]:
    return set(_in_order(name))


def _in_order(name: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+\d*|[A-Z]+\d*|\d+", name)]
