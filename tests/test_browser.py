"""The page about the dataset and the form for annotators in headless Chromium: `make test-browser`."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from cxgen.build.tables import dataset
from cxgen.project import Project
from cxgen.report import page as stage
from cxgen.report.reading import items_read
from cxgen.review.answers import read_answers
from cxgen.review.sample import Design, sample, write_key
from tests.test_review_form import serving

pytestmark = pytest.mark.browser
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
OPEN = "document.querySelectorAll('details').forEach(each => each.open = true)"
DESKTOP, PHONE = {"width": 1200, "height": 900}, {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def chromium():
    from playwright.sync_api import sync_playwright

    # of this machine, if it has one; else the one that `playwright install chromium` put where playwright finds it
    path = os.environ.get("CXGEN_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def report(mini_dataset, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    stage.write_page(Project(mini_dataset), path, per_design=30)
    return path


@pytest.fixture
def opened(chromium):
    """``opened(url, **context)``: a page; what it writes on the console, fails at, or asks of others fails the test."""
    contexts, faults = [], []

    def open_page(url, **options):
        context = chromium.new_context(**{"viewport": DESKTOP, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda message: faults.append(message.text) if message.type in {"error", "warning"} else None)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("requestfailed", lambda request: faults.append(f"failed: {request.url}"))
        page.on("request", lambda request: None if request.url.startswith((url.rsplit("/", 1)[0], "data:")) else faults.append(request.url))
        page.goto(url)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not faults


@pytest.fixture(scope="module")
def faults():
    """``faults(page)``: what axe-core finds, as it is and with all that is closed opened: what is wrong, and the first place of it."""
    import playwright

    path = Path(playwright.__file__).parents[1] / "node_modules/axe-core/axe.min.js"
    if not path.is_file():
        pytest.skip("no axe-core: `make test-browser` found no npm to install it with")

    def found(page):
        page.evaluate(path.read_text("utf-8"))
        runs = []
        for opening in ("0", OPEN):
            page.evaluate(opening)
            page.wait_for_timeout(100)  # boxes that scroll become reachable
            runs += page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        return [(each["id"], each["nodes"][0]["html"], each["nodes"][0]["failureSummary"]) for each in runs]

    return found


def counted(page):
    """How many sets fit, and of how many."""
    return tuple(int(number) for number in re.findall(r"\d+", page.locator("#found").inner_text()))


def shown(page):
    return page.locator("article").all_inner_texts()


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_fault_in_the_page(report, opened, faults, viewport, scheme):
    page = opened(report.as_uri(), viewport=viewport, color_scheme=scheme)
    assert page.locator("section[aria-label='one contrast set'] .chip").count() > 3
    page.select_option("#label", "E")  # cells that do not fit are paler
    page.check("#slots")
    assert faults(page) == []


def test_search_finds_words_and_marks_what_fits(report, opened):
    page = opened(report.as_uri())
    fitting, everything = counted(page)
    assert fitting == everything > 10
    assert len(shown(page)) == 10
    word = page.locator("article mark").first.inner_text()
    page.fill("#search", word)
    fitting, _ = counted(page)
    assert 0 < fitting < everything
    assert all(word.lower() in text.lower() for text in shown(page))
    page.fill("#search", "no such word anywhere")
    assert counted(page)[0] == 0
    assert not shown(page)
    page.fill("#search", "")
    assert counted(page) == (everything, everything)


def test_filters_narrow_what_is_shown_and_designs_follow_the_construction(report, opened):
    page = opened(report.as_uri())
    counts = []
    for config in page.locator("#config option").all_inner_texts()[1:]:
        page.select_option("#config", config)
        counts.append(counted(page)[0])
    assert sum(counts) == counted(page)[1]
    page.select_option("#config", "")
    page.select_option("#construction", index=1)
    name = page.locator("#construction").input_value()
    design = page.locator("#design option").all_inner_texts()[1]
    page.select_option("#design", design)
    assert all(text.startswith(f"{name}: {design}") for text in shown(page))
    page.select_option("#label", "E")
    assert page.locator("article .N.off, article .C.off").count() > 0
    assert page.locator("article .E.off").count() == 0


def test_all_can_be_done_by_keyboard(report, opened):
    page = opened(report.as_uri())
    focused = "document.activeElement.id"
    page.keyboard.press("/")
    assert page.evaluate(focused) == "search"
    for name in ("construction", "design", "config", "label", "slots"):
        page.keyboard.press("Tab")
        assert page.evaluate(focused) == name
    page.focus("#config")
    page.keyboard.press("ArrowDown")
    assert counted(page)[0] < counted(page)[1]


def test_a_phone_shows_all_of_it_without_scrolling_sideways(report, opened):
    page = opened(report.as_uri(), viewport=PHONE, is_mobile=True, has_touch=True)
    for details in page.locator("details > summary").all():
        details.tap()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


# the form


def begin(opened, port, name, **options):
    page = opened(f"http://127.0.0.1:{port}/", **{"viewport": PHONE, **options})
    page.keyboard.type(name)  # the field has the focus
    page.keyboard.press("Enter")
    page.locator("#work, #done").locator("visible=true").wait_for()
    return page


@pytest.fixture
def review(mini_dataset, tmp_path):
    """The folder of a review, and its key."""
    key = sample(items_read(dataset(Project(mini_dataset), "nli")), Design(sets=3, sentences=2, lists=1, checks=1))
    write_key(key, tmp_path)
    return tmp_path, key


def answer(page, number, nth=0):
    """Press the key of the first choice (of those that it has, the ``nth``), ``number`` times."""
    for _ in range(number):
        place = page.locator("#place").inner_text()
        page.keyboard.press(page.locator("#choices button").first.locator("kbd").nth(nth).inner_text())
        page.wait_for_function("place => $('done').hidden === false || $('place').textContent !== place", arg=place)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_fault_in_the_form(review, opened, faults, scheme):
    with serving(review[0]) as port:
        entry = opened(f"http://127.0.0.1:{port}/", color_scheme=scheme)
        assert f"{review[1].height} rows" in entry.locator("#who").inner_text()
        assert faults(entry) == []
        page = begin(opened, port, "anna", color_scheme=scheme)
        answer(page, 1)
        page.keyboard.press("ArrowLeft")  # an answer that is given is coloured
        page.locator("#choices [aria-pressed=true]").wait_for()
        assert faults(page) == []


def test_an_annotator_answers_by_keyboard_and_goes_on_after_a_break(review, opened):
    folder, key = review
    with serving(folder) as port:
        page = begin(opened, port, "anna")
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        for nth in range(3):  # 1, T, E
            answer(page, 1, nth)
        page = begin(opened, port, "anna")
        assert page.locator("#place").inner_text() == f"row 4 of {key.height}"
        answer(page, key.height - 3)
        assert page.locator("#done").is_visible()
    answers = read_answers(sorted((folder / "answers").iterdir()), key)
    assert answers["reader"].unique().to_list() == ["anna"]
    assert answers["code"].n_unique() == key.height
    assert set(answers.join(key, on="code").filter(task="labels")["answer"]) == {"E"}
