"""What the documentation says of the house, its works and its version is true."""

from __future__ import annotations

import re
import tomllib
from datetime import date

import pytest
import yaml
from house import ROOT, SOURCE, room, sources
from house_pages import CITATION, citations, written

import hyperlens


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_figure_files_and_citations_are_those_of_the_source() -> None:
    for page, content in written().items():
        assert page.read_text(encoding="utf-8") == content, "run make pages"


def test_every_room_is_described() -> None:
    table = re.findall(r"^\| (`[^|]*) \|", text("docs/architecture.md").split("## Words")[0], re.M)
    rooms = {name for row in table for name in re.findall(r"`(\w+)`", row)}
    assert rooms == {room(name) for name in sources()} - {""}


def test_every_work_that_is_cited_is_listed_and_every_listed_one_cited() -> None:
    listed = re.findall(r"^### (.+)$", text("docs/references.md"), re.M)
    assert len(listed) == len(set(listed))
    assert set(listed) == set(citations())


@pytest.mark.parametrize(
    ("sentence", "work"),
    [
        ("as in Hutter et al. 2014, section 3", "Hutter et al. 2014"),
        ("(Fawcett and Hoos 2016)", "Fawcett and Hoos 2016"),
        ("SMACOF, de Leeuw 1977", "de Leeuw 1977"),
        ("by Croppi (2021)", "Croppi 2021"),
        ("Pratt, 1959", "Pratt 1959"),
    ],
)
def test_a_citation_is_seen(sentence: str, work: str) -> None:
    assert [" ".join(found) for found in CITATION.findall(sentence)] == [work]


def test_the_version_stands_in_one_place() -> None:
    citation = yaml.safe_load(text("CITATION.cff"))
    heads = re.findall(r"^## (.+)$", text("CHANGELOG.md"), re.M)
    releases = [re.fullmatch(r"(\S+) \((\d{4}-\d\d-\d\d)\)", head) for head in heads[1:]]
    assert heads[0] == "Unreleased"
    assert releases[0] is not None
    assert hyperlens.__version__ == releases[0][1] == citation["version"]
    assert citation["date-released"] == releases[0][2]
    dates = [date.fromisoformat(release[2]) for release in releases if release is not None]
    assert len(dates) == len(releases)
    assert dates == sorted(dates, reverse=True)
    assert 'dynamic = ["version"]' in text("pyproject.toml")
    assert not re.search(r"^version = \"", text("pyproject.toml"), re.M)


def test_every_file_of_the_package_is_delivered() -> None:
    patterns = tomllib.loads(text("pyproject.toml"))["tool"]["setuptools"]["package-data"]
    delivered = {path for pattern in patterns["hyperlens"] for path in SOURCE.glob(pattern)}
    ours = {p for p in SOURCE.rglob("*") if p.is_file() and "__pycache__" not in p.parts}
    assert {p for p in ours if p.suffix != ".py"} == delivered
    assert all((p.parent / "__init__.py").exists() for p in ours)


def test_the_citation_file_has_what_the_format_asks_for() -> None:
    citation = yaml.safe_load(text("CITATION.cff"))
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= set(citation)
    known = {"cff-version", "message", "title", "authors", "type", "abstract", "version"}
    assert set(citation) <= known | {"date-released", "license", "keywords", "repository-code"}
    assert all(
        {"name"} == set(author) or "family-names" in author for author in citation["authors"]
    )


def test_files_that_the_pages_name_are_there() -> None:
    for page in ("docs/architecture.md", "docs/references.md", "SECURITY.md", "README.md"):
        head = text(page).split("## All files")[0]
        for name in re.findall(r"`([\w/]+\.(?:py|js|css|html|md))`", head):
            places = [ROOT / name, ROOT / "docs" / name, *SOURCE.rglob(name)]
            assert any(place.exists() for place in places), f"{page} names {name}"


def test_files_that_docstrings_name_are_there() -> None:
    names = {path.name for path in SOURCE.rglob("*.py")} | {"train.py", "predict.py"}  # of users
    for name, path in sources().items():
        named = set(re.findall(r"\b[a-z_]+\.py\b", path.read_text(encoding="utf-8")))
        assert named <= names, f"{name} names {named - names}"


def test_links_lead_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            if target.startswith("gallery/"):  # drawn when the site is built
                continue
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
