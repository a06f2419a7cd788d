"""Methods that cannot be told apart: the largest sets without any difference that was shown."""

from collections.abc import Collection, Sequence

MOST_GROUPS = 1000  # of very many methods with very irregular differences


def groups(
    methods: Sequence[str], different: Collection[frozenset[str]]
) -> tuple[tuple[str, ...], ...]:
    """Maximal sets of at least two methods no two of which differ, in the order of `methods`.

    A set may leave out a method that lies between its members, since each two are tested alone.

    >>> groups(["a", "b", "c"], [frozenset("ac")])
    (('a', 'b'), ('b', 'c'))
    """
    alike = {
        m: {other for other in methods if other != m and frozenset((m, other)) not in different}
        for m in methods
    }
    groups: list[frozenset[str]] = []

    def grow(chosen: frozenset[str], candidates: set[str], passed: set[str]) -> None:
        """Bron and Kerbosch: every maximal set that holds `chosen` and nothing of `passed`."""
        if not candidates and not passed:
            if len(chosen) > 1:
                groups.append(chosen)
            return
        pivot = max(sorted(candidates | passed), key=lambda m: len(alike[m] & candidates))
        for m in sorted(candidates - alike[pivot]):
            if len(groups) >= MOST_GROUPS:
                return
            grow(chosen | {m}, candidates & alike[m], passed & alike[m])
            candidates = candidates - {m}
            passed = passed | {m}

    grow(frozenset(), set(methods), set())
    place = {m: k for k, m in enumerate(methods)}
    ordered = [tuple(sorted(group, key=place.__getitem__)) for group in groups]
    return tuple(sorted(ordered, key=lambda g: [place[m] for m in g]))
