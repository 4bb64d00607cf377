"""The report in a headless Chromium: accessibility, tables, hostile names."""

from importlib import resources

import numpy as np
import pytest
from browser import ask, chromium, dump
from report_files import add_contrasts, add_means, result_dataset, statistics_dataset, write
from test_report import HOSTILE

from stereosweep_analysis import report


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    chromium()
    folder = tmp_path_factory.mktemp("page")
    scores = np.arange(40 * 4 * 2, dtype=float).reshape(40, 4, 1, 1, 2) - 100
    scores[3] = np.nan
    names = [f"subject {place}" for place in range(39)] + [HOSTILE]
    statistics = add_means(statistics_dataset(scores, names, HOSTILE))
    statistics = add_contrasts(statistics, ["one", "two"], [0.5, -2.0], [0.04, 0.0001])
    write(folder / "run", statistics, result_dataset([["Text A", HOSTILE]], [[[1], [2]]], [[[0], [1]]]))
    return report(folder / "run")


def test_no_serious_accessibility_finding(page, tmp_path):
    axe = resources.files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    found = ask(tmp_path, page.read_text(), "return await axe.run(document)", axe)
    assert len(found["passes"]) > 15
    wrong = [(rule["id"], rule["impact"], rule["nodes"][0]["html"][:200]) for rule in found["violations"]]
    assert not wrong


def test_axe_sees_a_page_that_is_wrong(page, tmp_path):
    axe = resources.files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    wrong = page.read_text().replace('lang="en"', "")
    wrong = wrong.replace("<figcaption>", '<p style="color:#ddd">grey</p><figcaption>')
    found = ask(tmp_path, wrong, "return (await axe.run(document)).violations.map((rule) => rule.id)", axe)
    assert {"html-has-lang", "color-contrast"} <= set(found)


def test_tables_sort_filter_and_show_all(page, tmp_path):
    script = """
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
    """
    answer = ask(tmp_path, page.read_text(), script)
    assert (answer["first"], answer["all"]) == ("30 of 80 rows", "80 of 80 rows")
    numbers = [float(text.replace("\u2212", "-")) for text in answer["up"][1] if text != "none"]
    assert answer["up"][0] == "ascending" and len(numbers) == 78 and numbers == sorted(numbers) and numbers[0] < 0
    down = [text for text in answer["down"][1] if text != "none"]
    assert answer["down"][0] == "descending" and down == [text for text in answer["up"][1] if text != "none"][::-1]
    assert answer["filtered"] == ["2 of 80 rows", ["subject 17", "subject 17"]]


def test_the_policy_lets_our_script_run_and_no_other(page, tmp_path):
    """The page as it is: its own script makes the sorting buttons, hostile names and scripts of others do nothing."""
    assert "<button" in dump(tmp_path, page)
    other = tmp_path / "other.html"
    other.write_text(page.read_text().replace("</main>", "</main><script>document.title = 'taken'</script>"))
    held = dump(tmp_path, other)
    assert "<title>taken" not in held and "<img src" not in held
