"""The report in a headless Chromium: accessibility, tables, what lies behind rows and cells, sizes, hostile names."""

from importlib import resources

import numpy as np
import pytest
from browser import HEIGHTS, Browser
from programs import BUILD, ROOT, call
from report_files import add_contrasts, add_finding, add_means, result_dataset, statistics_dataset, view, write
from test_report import HOSTILE

from stereosweep_analysis import report

SIDES = [("subject 5", "subject 7"), ("subject 6", "subject 8")]  # of the contrasts
SCREENS = [(width, scheme) for width in (1280, 390) for scheme in ("light", "dark")]
CHECKED_BY_AXE = [(1280, "light"), (390, "dark")]  # of the largest pages: each width and each scheme once
AXE = resources.files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
OPEN_ALL = "document.querySelectorAll('details').forEach((part) => { part.open = true; });"
OPEN_FIRST = """
  let part = document.querySelector("tbody button");
  while ((part = part.parentElement.closest("details"))) part.open = true;
"""
FIRST_ANSWER = "return document.querySelector('ul li').getBoundingClientRect().bottom"
MOST_HIGH = 6000
READY = "document.querySelector('tbody button')"  # rows can be opened
FIRST_LINE = "const it = document.querySelector('li'); return [it.textContent, it.getBoundingClientRect().bottom]"
WIDEST = """
  return [...document.querySelectorAll("body *")].filter((part) => !part.closest(".table, .picture, pre")
    && part.getBoundingClientRect().right > WIDTH + 1).map((part) => part.outerHTML.slice(0, 120));
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    made = Browser(tmp_path_factory.mktemp("browser"))
    yield made
    made.close()


def made_up(folder, groups, shape=(4, 1, 1), items=2, title=HOSTILE, result=True):
    """A run whose sentences name their group and template."""
    names = [f"subject {place}" for place in range(groups - 1)] + [HOSTILE]
    generator = np.random.default_rng(groups)
    scores = generator.normal(size=(groups, *shape, items)).round(3)
    scores[3] = np.nan
    statistics = add_means(statistics_dataset(scores, names, title))
    statistics = add_contrasts(statistics, ["one", "two"], [0.5, -2.0], [0.04, 0.0001], SIDES)
    prompts = [[f"{name} in template {template}" for template in range(shape[0])] for name in names]
    counts = np.ones((groups, shape[0], 1), dtype=int)
    made = result_dataset(prompts, counts, counts * 0).assign_coords(
        group=np.array(names, dtype=object), rephrasing=statistics["rephrasing"].values
    )  # fmt: skip
    return write(folder, statistics, made if result else None), scores


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder, scores = made_up(tmp_path_factory.mktemp("page") / "run", 40, items=5)
    return report(folder), scores


@pytest.fixture
def page(run):
    return run[0]


@pytest.mark.parametrize(("width", "scheme"), SCREENS)
def test_no_accessibility_finding(browser, page, width, scheme):
    browser.open(page, width, scheme, READY)
    browser.ask(AXE + ";" + OPEN_ALL)
    for before in ("", "document.querySelector('tbody button').click();"):
        found = browser.ask(before + "return await axe.run(document)")
        assert len(found["passes"]) > 15
        assert not [(rule["id"], rule["impact"], rule["nodes"][0]["html"][:200]) for rule in found["violations"]]


def test_no_accessibility_finding_of_several_runs(browser, tmp_path):
    folders = [made_up(tmp_path / name, 5, title=name)[0] for name in ("one", "two")]
    browser.open(report(*folders), 390, "light", READY)
    found = browser.ask(AXE + ";" + OPEN_ALL + "return (await axe.run(document)).violations.map((rule) => rule.id)")
    assert found == []


def test_axe_sees_a_page_that_is_wrong(browser, page, tmp_path):
    wrong = page.read_text().replace('lang="en"', "")
    path = tmp_path / "wrong.html"
    path.write_text(wrong.replace("<nav", '<p style="color:#ddd">grey</p><nav'))
    browser.open(path)
    found = browser.ask(AXE + "; return (await axe.run(document)).violations.map((rule) => rule.id)")
    assert {"html-has-lang", "color-contrast"} <= set(found)


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_wider_than_the_screen(browser, page, width):
    browser.open(page, width, end=READY)
    browser.ask(OPEN_ALL)
    assert "ab" * 32 in browser.ask("return document.body.innerText")  # a hash that nothing breaks
    assert browser.ask("return document.documentElement.scrollWidth") <= width
    widest = WIDEST.replace("WIDTH", str(width))
    assert browser.ask(widest) == []
    browser.ask(f"document.querySelector('h1').style.width = '{width + 100}px'")
    assert len(browser.ask(widest)) == 1


@pytest.mark.parametrize("width", [1280, 390])
def test_the_first_screen_shows_findings(browser, page, width):
    browser.open(page, width)
    first = browser.ask(FIRST_LINE)
    assert first[0].startswith("two, item 0: \u22122.000") and first[1] < HEIGHTS[width]


def focus_until(browser, condition, most=200):
    """Presses Tab until the focused element fulfils the condition; returns how often."""
    for pressed in range(1, most):
        browser.press("Tab")
        if browser.ask(f"const it = document.activeElement; return Boolean({condition})"):
            return pressed
    raise AssertionError(condition)


def said(browser):
    return browser.ask("const it = document.querySelector('dialog'); return it.open ? it.innerText : null")


def test_the_keyboard_alone_reaches_what_lies_behind(browser, run):
    page, scores = run
    browser.open(page, end=READY)
    assert focus_until(browser, "it.matches('a.skip')") == 1
    focus_until(browser, "it.matches('tbody button')")
    browser.press("Enter")  # of the contrast with the smallest p
    assert all(f"subject {place} in template 3" in said(browser) for place in (6, 8))
    browser.press("Escape")
    browser.open(page, end=READY)
    browser.ask(OPEN_ALL)
    focus_until(browser, "it.matches('tbody button') && it.closest('table').caption.innerText.startsWith('Means')")
    label = browser.ask("return document.activeElement.closest('tr').innerText").split("\t")
    browser.press("Enter")
    text = said(browser)
    subject, item = int(label[0].split()[1]), int(label[1].split()[1])
    assert f"{label[0]}: {label[1]}" in text and "4 of 4 wordings" in text
    for template in range(4):
        assert f"subject {subject} in template {template}" in text
        assert f"{scores[subject, template, 0, 0, item]:.3f}"[-4:] in text
    browser.press("Escape")
    assert said(browser) is None
    assert browser.ask("return document.activeElement.closest('tr').innerText").split("\t") == label
    browser.ask(OPEN_ALL + "document.querySelector('button.cells').focus()")
    browser.press("ArrowDown", "ArrowDown", "ArrowRight", "ArrowLeft", "ArrowRight")
    label = browser.ask("return document.activeElement.ariaLabel")
    assert label.startswith("Cell in row 3, column 2: subject 2: item 1,")
    browser.press("Enter")
    assert "subject 2: item 1" in said(browser) and "subject 2 in template 0" in said(browser)


def test_a_click_opens_the_cell_that_is_hit(browser, page):
    browser.open(page, end="document.querySelector('button.cells')")
    place = """
      document.querySelectorAll('details').forEach((part) => { part.open = true; });
      const button = document.querySelector('button.cells');
      button.scrollIntoView({ behavior: "instant", block: "start" });
      const area = button.getBoundingClientRect();
      return [area.left + area.width * 4.5 / 5, area.top + area.height * 1.5 / 40];
    """
    browser.click(*browser.ask(place))
    assert "subject 1: item 4" in said(browser)
    colour = "return getComputedStyle(document.querySelectorAll('[id$=QuadMesh_1] path')[9]).fill"
    other = "const area = document.querySelectorAll('[id$=QuadMesh_1] path')[9].getBoundingClientRect();"
    inside = browser.ask(other + "return [area.left + area.width / 2, area.top + area.height / 2]")
    assert browser.ask(colour).startswith("rgb") and np.allclose(inside, browser.ask(place), atol=3)


def test_tables_sort_filter_and_show_all(browser, page):
    browser.open(page)
    answer = browser.ask("""
      const region = document.getElementById("r0-scores-3").closest(".table");
      const tools = region.previousElementSibling, table = region.querySelector("table");
      const means = () => [...table.tBodies[0].rows].map((row) => row.cells[2].textContent);
      const status = () => tools.querySelector("[role=status]").textContent;
      const head = [...table.tHead.rows[0].cells][2];
      const answer = { first: status() };
      tools.querySelector("button").click();
      answer.all = status();
      head.querySelector("button").click();
      answer.up = [head.getAttribute("aria-sort"), means()];
      head.querySelector("button").click();
      answer.down = [head.getAttribute("aria-sort"), means()];
      const filter = tools.querySelector("input");
      filter.value = "SUBJECT 17";
      filter.dispatchEvent(new Event("input"));
      answer.filtered = [status(), [...table.tBodies[0].rows].map((row) => row.cells[0].textContent)];
      return answer;
    """)
    assert (answer["first"], answer["all"]) == ("30 of 200 rows", "200 of 200 rows")
    numbers = [float(text.replace("\u2212", "-")) for text in answer["up"][1] if text != "none"]
    assert answer["up"][0] == "ascending" and len(numbers) == 195 and numbers == sorted(numbers) and numbers[0] < 0
    down = [float(text.replace("\u2212", "-")) for text in answer["down"][1] if text != "none"]
    assert answer["down"][0] == "descending" and down == numbers[::-1]
    assert answer["filtered"] == ["5 of 200 rows", ["subject 17"] * 5]


def test_the_policy_lets_our_script_run_and_no_other(browser, page, tmp_path):
    """The page as it is: its own script makes the sorting buttons, hostile names and scripts of others do nothing."""
    browser.open(page, end=READY)
    assert browser.ask("return document.title") == f"stereosweep: {HOSTILE}"
    other = tmp_path / "other.html"
    other.write_text(page.read_text().replace("</main>", "</main><script>document.title = 'taken'</script>"))
    browser.open(other, end=READY)
    assert browser.ask("return document.title") != "taken" and browser.ask("return document.images.length") == 0
    browser.ask("document.querySelector('tbody button').click()")
    assert browser.ask("return document.images.length") == 0 and said(browser)


def test_links_unfold_sections_and_print_shows_all(browser, page):
    browser.open(page)
    closed = "return document.querySelectorAll('details.section:not([open])').length"
    before = browser.ask(closed)
    browser.ask("document.querySelector('a[href=\"#cite\"]').click()")
    browser.wait("document.getElementById('cite').closest('details').open")
    assert before > 3 and browser.ask(closed) == before - 1
    browser.ask("dispatchEvent(new Event('beforeprint'))")
    assert browser.ask("return document.querySelectorAll('details:not([open])').length") == 0
    browser.ask("dispatchEvent(new Event('afterprint'))")
    assert browser.ask(closed) == before - 1


def within_limits(browser, page):
    """Size, cost, height and first screen of a page; returns its text."""
    assert page.stat().st_size < 3_000_000
    for width in (1280, 390):
        browser.open(page, width, end=READY)
        assert browser.processor_seconds() < 2
        assert browser.ask("return document.documentElement.scrollHeight") < MOST_HIGH
        assert browser.ask("return document.documentElement.scrollWidth") <= width
    return browser.ask("return document.body.innerText")


PAGES = (
    "association", "set", "contexts", "detection", "coreference", "rating", "interview", "a sweep", "runs side by side",
)  # fmt: skip
TITLES = """
  const parents = new Set([...document.querySelectorAll("details")].map((part) => part.parentElement));
  return [...parents].map((parent) => [...parent.children].filter((part) => part.matches("details:not(.note)"))
    .map((part) => part.firstElementChild.innerText));
"""
AXE_RUN = AXE + """;
  const found = (await axe.run(document, { resultTypes: ["violations"] })).violations;
  return found.map((rule) => `${rule.id}: ${rule.nodes[0].html.slice(0, 200)}`);
"""


@pytest.fixture(scope="module")
def runs_of_two(tmp_path_factory):
    """A sweep of two number formats."""
    folder = tmp_path_factory.mktemp("sweep") / "formats"
    call(
        BUILD / "bin" / "stereosweep", "run", ROOT / "jobs/10_planted.yaml", "--output", folder, "measures=[ilps_star]",
        "axes.groups={file: abc_groups, only: [women, men, teenagers]}", "sweep.model.dtype=[float32, bfloat16]",
        "axes.templates={file: abc_templates, only: [one_of_them, often, quite, the_word]}",
    )  # fmt: skip
    return folder


@pytest.fixture(scope="module", params=PAGES)
def made_page(request, bundled, runs_of_two, tmp_path_factory):
    places = {"a sweep": [runs_of_two], "runs side by side": sorted(runs_of_two.glob("*/"))}
    of = places[request.param] if request.param in places else [bundled(request.param)]
    return report(*of, out=tmp_path_factory.mktemp("made") / "page.html")


def test_the_page_of_every_kind_of_result(browser, made_page):
    """Answers first, nothing wider than the screen, no finding of axe, no title twice, reached by keys alone."""
    for width, scheme in SCREENS:
        browser.open(made_page, width, scheme, READY)
        assert browser.ask("return document.documentElement.scrollHeight") < MOST_HIGH
        assert browser.ask(FIRST_ANSWER) < HEIGHTS[width]
        browser.ask(OPEN_ALL)
        if (width, scheme) in CHECKED_BY_AXE:
            assert browser.ask(AXE_RUN) == []
        assert browser.ask("return document.documentElement.scrollWidth") <= width
        assert browser.ask(WIDEST.replace("WIDTH", str(width))) == []
        listed = browser.ask(TITLES)
        assert sum(map(len, listed)) > 8 and all(len(set(titles)) == len(titles) for titles in listed), listed
    browser.open(made_page, 390, "light", READY)
    browser.ask(OPEN_FIRST)
    assert focus_until(browser, "it.matches('a.skip')") == 1
    focus_until(browser, "it.matches('tbody button')")
    browser.press("Enter")
    assert "wordings, from the lowest to the highest score" in said(browser)
    browser.press("Escape")
    assert said(browser) is None and browser.ask("return document.activeElement.matches('tbody button')")


def test_a_page_of_a_million_scores_is_small(browser, tmp_path):
    folder, _ = made_up(tmp_path / "run", 300, (70, 1, 1), 53, "many")
    assert "Sentences behind 3,000 of" in within_limits(browser, report(folder))


def test_a_page_of_a_sweep_begins_with_the_differences(browser, tmp_path):
    for place in range(12):
        folder, _ = made_up(tmp_path / f"run {place:02}", 30, (6, 1, 1), 16, f"run {place:02}")
        (folder / "job.resolved.yaml").write_text("name: x")
    labels = {"run_pair": "b minus a", "measure": "ilps_star prior_word", "subject": "subject 1", "item": "item 1"}
    arrays = {"run_difference": (3.0, "value"), "run_low": (2.0, "low"), "run_high": (4.0, "high"),
              "run_p_holm": (0.002, "adjusted")}  # fmt: skip
    arrays = {name: ([[[[number]]]], role) for name, (number, role) in arrays.items()}
    columns = [*((name, name) for name in labels if name != "measure"), *((name, name) for name in arrays)]
    names = [f"run {place:02}" for place in range(12)]
    comparison = statistics_dataset(np.zeros((1, 1, 1, 1, 1)), ["subject 1"]).drop_dims(
        ["measure", "subject", "item", "template", "rephrasing", "replicate"]
    ).assign_coords({axis: np.array([label], dtype=object) for axis, label in labels.items()})  # fmt: skip
    differing = np.array([f"m={place}" for place in range(12)], dtype=object)
    comparison = comparison.assign_coords(
        run=differing, run_name=("run", np.array(names, dtype=object))
    ).assign_attrs(schema="stereosweep-runs", schema_version="1.0", complete=1)  # fmt: skip
    comparison = add_finding(comparison, tuple(labels), arrays, [view("Differences in ", columns, "run_p_holm")])
    comparison.to_netcdf(tmp_path / "runs.stats.h5", engine="h5netcdf")
    text = within_limits(browser, report(tmp_path))
    first = browser.ask(FIRST_LINE)
    assert first[0].startswith("b minus a, subject 1, item 1: 3.000, 2.000 to 4.000") and first[1] < 844, first
    assert "Run m=11" in text and "12 of 12 rows" in text
