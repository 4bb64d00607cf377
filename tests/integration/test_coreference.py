"""The coreference probe from job to statistics: ranks, transformers, numpy on the raw cubes, the texts of WinoBias."""

import itertools
import re

import numpy
import pytest
import runs
import tiny_causal
import xarray

JOB = runs.ROOT / "jobs/40_winoidentity.yaml"
CROSSED = runs.ROOT / "jobs/41_crossed_markers.yaml"
WINOBIAS = runs.ROOT / "../shared/data/winobias"


def program(*arguments):
    done = runs.program(*arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def fake(tmp_path_factory):
    """A finished run of the shipped job, without a few sentences, on one rank; its statistics."""
    output = tmp_path_factory.mktemp("coreference") / "run"
    code, _, err = runs.run(JOB, output, "execution.engine=fake")
    assert code == 0, err
    program("stats", output)
    return output


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_same_digest_on_any_number_of_ranks(fake, tmp_path, ranks):
    code, _, err = runs.run(JOB, tmp_path / "run", "execution.engine=fake", ranks=ranks)
    assert code == 0, err
    assert runs.digest(tmp_path / "run") == runs.digest(fake)


def test_a_marker_that_is_added_later_costs_its_own_blocks_only(fake, tmp_path):
    job = ["axes.markers={file: winoidentity_markers, only: [Black, White, old]}", "execution.engine=fake"]
    code, _, err = runs.run(JOB, tmp_path / "few", *job)
    assert code == 0, err
    code, _, err = runs.run(JOB, tmp_path / "all", "execution.engine=fake", "--reuse", tmp_path / "few")
    assert code == 0, err
    blocks = runs.status(tmp_path / "all")["blocks"]
    assert blocks["reused"] == runs.status(tmp_path / "few")["blocks"]["total"] == 1 + 3 * 3 + 2
    assert runs.digest(tmp_path / "all") == runs.digest(fake)


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_checkpoint_without_a_head_is_refused(tmp_path, ranks):
    reference = tiny_causal.make("llama2", tmp_path / "whole", positions=256)
    folder = tmp_path / "headless"
    reference.model.model.save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).write_text((reference.folder / name).read_text())
    code, _, err = runs.run(JOB, tmp_path / "run", f"model.path={folder}", "execution.device=cpu", ranks=ranks)
    assert code == 2
    assert "no language-model head" in err
    assert not (tmp_path / "run/coreference.h5").exists()


@pytest.mark.parametrize("kind", ["gpt2", "llama2"])
def test_numbers_are_those_of_transformers(tmp_path, kind):
    reference = tiny_causal.make(kind, tmp_path / "model", positions=256)
    markers = "axes.markers={file: winoidentity_markers, only: [Black, White, able-bodied]}"
    settings = [f"model.path={reference.folder}", "execution.engine=torch", "execution.device=cpu", markers]
    code, _, err = runs.run(JOB, tmp_path / "run", *settings, ranks=2)
    assert code == 0, err
    data = xarray.open_dataset(tmp_path / "run/coreference.h5")
    assert (data.status == 0).all()
    places = list(itertools.product(range(data.sizes["group"]), range(data.sizes["template"])))
    for condition, sentence in places[::23]:
        cell = data.isel(group=condition, rephrasing=0, template=sentence)
        for role, occupation in enumerate([cell.template_referent.item(), cell.template_other.item()]):
            expected = reference.tokens(cell.prompt.item(), " " + occupation)
            count = cell.num_subwords.values[role]
            assert count == len(expected)
            numpy.testing.assert_allclose(cell.logprob.values[role, :count], expected, atol=2e-4)
            assert numpy.isnan(cell.logprob.values[role, count:]).all()


class Numbers:
    """Numbers of every sentence, by numpy alone."""

    def __init__(self, data):
        assert data.sizes["rephrasing"] == 1
        sums = data.logprob.isel(rephrasing=0).sum("subword").values  # [group, template, role]
        means = sums / data.num_subwords.isel(rephrasing=0).values
        margin = sums[..., 0] - sums[..., 1]
        share = 1 / (1 + numpy.exp(-margin))
        with numpy.errstate(divide="ignore", invalid="ignore"):
            entropy = numpy.nan_to_num(-share * numpy.log(share)) + numpy.nan_to_num(-(1 - share) * numpy.log1p(-share))
        self.values = {
            "probability": numpy.exp(sums[..., 0]),
            "share": share,
            "share_per_subword": 1 / (1 + numpy.exp(means[..., 1] - means[..., 0])),
            "accuracy": numpy.where(margin == 0, 0.5, margin > 0),
            "entropy": entropy,
            "margin": margin,
        }
        self.data = data

    def choose(self, kind, stereotype, gender):
        chosen = self.data.template_type.values == kind
        if stereotype != "all":
            chosen = chosen & (self.data.template_stereotype.values == stereotype)
        if gender != "all":
            chosen = chosen & (self.data.template_gender.values == gender)
        return chosen


@pytest.fixture(scope="module")
def numbers(fake):
    return Numbers(xarray.load_dataset(fake / "coreference.h5"))


def rows_of(stats, measure):
    """{name of the contrast: (left, right)} of the referent."""
    chosen = (stats.contrast_measure.values == measure) & (stats.contrast_item.values == "referent")
    sides = zip(stats.contrast_left.values[chosen], stats.contrast_right.values[chosen])
    return dict(zip(stats.contrast_name.values[chosen], sides))


@pytest.mark.parametrize("measure", ["share", "accuracy", "entropy"])
@pytest.mark.parametrize("kind", ["ambiguous", "unambiguous"])
def test_contrasts_that_no_job_asks_for_are_numpys(fake, numbers, kind, measure):
    """All sentences of the job have a partner, so that a mean over pairs is one over sentences."""
    found = rows_of(xarray.load_dataset(fake / "coreference.stats.h5"), measure)
    data, values = numbers.data, numbers.values[measure]
    augmentations, attributes = data.group_augmentation.values, data.group_attribute.values
    expected = {}
    for augmentation in dict.fromkeys(augmentations):
        part = values[augmentations == augmentation]
        expected[f"pro - anti, {kind}: {augmentation}"] = [
            part[:, numbers.choose(kind, side, "all")].mean() for side in ("pro", "anti")]
        expected[f"women - men, {kind}: {augmentation}"] = [
            part[:, numbers.choose(kind, "all", side)].mean() for side in ("female", "male")]
    means = dict(zip(data.group.values, values[:, numbers.choose(kind, "all", "all")].mean(1)))
    for label in means.keys() - {"baseline"}:
        expected[f"marker - none, {kind}: {label}"] = [means[label], means["baseline"]]
    for attribute, placement in itertools.product(dict.fromkeys(attributes), ["aug1", "aug2", "aug3", "aug4"]):
        sides = [(attributes == attribute) & numpy.char.startswith(augmentations.astype(str), placement)
                 & (data.group_privilege.values == side) for side in ("privileged", "disadvantaged")]
        if all(side.any() for side in sides):
            expected[f"privileged - disadvantaged, {attribute}, {placement}, {kind}"] = [
                numpy.mean([means[label] for label in data.group.values[side]]) for side in sides]
    assert expected.keys() == {name for name in found if f", {kind}" in name}
    for name, sides in expected.items():
        numpy.testing.assert_allclose(found[name], sides, atol=1e-12, err_msg=name)


def test_contrasts_of_the_job_stand_in_place_of_the_probes(fake, tmp_path):
    asked = "statistics.contrasts=[{name: own, left: {subject: baseline}, measures: [share]}]"
    program("stats", fake, asked, "--output", tmp_path / "own.h5")
    assert set(xarray.load_dataset(tmp_path / "own.h5").contrast_name.values) == {"own"}


def test_a_stereotyped_model_shows_where_the_bracketed_occupation_is_the_referent(tmp_path):
    """The planted model leans from occupations to pronouns; ambiguous sentences alone."""
    found = {}
    for rule in ("bracketed", "first"):
        code, _, err = runs.run(JOB, tmp_path / rule, "execution.engine=torch", "execution.device=cpu",
                                "axes.augmentations=[baseline]", f"axes.ambiguous_referent={rule}")
        assert code == 0, err
        text = program("stats", tmp_path / rule)
        stats = xarray.load_dataset(tmp_path / rule / "coreference.stats.h5")
        assert ("WARNING: axes.ambiguous_referent is 'first'" in text) == (rule == "first")
        assert stats.attrs.get("warnings", "").startswith("axes.ambiguous_referent is 'first'") == (rule == "first")
        left, right = rows_of(stats, "share")["pro - anti, ambiguous: baseline"]
        found[rule] = left - right
    assert found["bracketed"] > 0.03 and abs(found["first"]) < found["bracketed"] / 3
    assert "WARNING axes.ambiguous_referent" in program("validate", JOB, "axes.ambiguous_referent=random")
    assert "WARNING" not in program("validate", JOB)


def prompts(*overrides):
    """[group, rephrasing, template, referent, other, prompt] of every context."""
    lines = program("plan", JOB, *overrides, "--show-prompts").split("\n\n", 1)[-1].splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("group\trephrasing"))
    return [line.split("\t") for line in lines[start + 1:]]


@pytest.mark.parametrize("source", ["workplaces", "winobias"])
def test_every_prompt_is_a_sentence(source):
    """Rules that any text must keep, whatever builds it."""
    if source == "winobias" and not WINOBIAS.exists():
        pytest.skip(f"no {WINOBIAS}: the files of WinoBias are not part of this repository")
    chosen = ["axes.markers={file: winoidentity_markers, only: [able-bodied, disabled, White, Black, immigrant]}"]
    if source == "winobias":
        chosen.append(f"axes.sentences={{files: [{WINOBIAS.resolve()}]}}")
    rows = prompts(*chosen)
    plain = {row[2]: row[5] for row in rows if row[0] == "baseline"}
    assert len(rows) == len(plain) * (1 + 3 * 5 + 2 * 2)
    for condition, _, sentence, referent, other, prompt in rows:
        before, _, question = prompt.partition(" The pronoun ")
        assert before[0].isupper() and before[-1] == "." and "  " not in prompt, prompt
        assert not re.search(r" [,.;:!?]|[\[\]{}]|,,|,\.| 's", prompt), prompt
        pronoun = re.fullmatch(r'"(he|she|him|her|his|hers)" refers to the', question)
        assert pronoun and re.search(rf"\b{pronoun[1]}\b", before, re.IGNORECASE), prompt
        kind, _, words = condition.partition(" ")
        base = plain[sentence].partition(" The pronoun ")[0]
        if kind == "aug4":
            noun = "woman" if pronoun[1] in ("she", "her", "hers") else "man"
            inserted = re.search(rf", the {words} {noun}('s)?,?", before)
            assert inserted, prompt
            if pronoun[1] != "her":  # which is told apart by its partner; tests/config
                assert (inserted[1] is not None) == (pronoun[1] in ("his", "hers")), prompt
            assert before.replace(inserted[0], "", 1) == base, prompt
        elif kind == "baseline":
            assert prompt == plain[sentence]
        else:
            markers = words.split(" / ") if " / " in words else [words]
            nouns = {"aug1": [referent], "aug2": [other]}.get(kind, [referent, other])
            stripped = before
            for marker, noun in zip(markers, nouns):
                article = re.search(rf"\b(the|an?) {marker} {noun}\b", stripped, re.IGNORECASE)
                assert article, prompt
                if article[1].lower() != "the":
                    assert article[1].lower() == ("an" if marker[0] in "aeiou" else "a"), prompt
                stripped = stripped.replace(f"{marker} {noun}", noun, 1)
            same = [re.sub(r"\b([Aa])n? ", r"\1 ", text) for text in (stripped, base)]
            assert same[0] == same[1], prompt


@pytest.fixture(scope="module")
def crossed(tmp_path_factory):
    """A finished run of the job with crossed markers on the bundled model, and its statistics."""
    output = tmp_path_factory.mktemp("crossed") / "run"
    code, _, err = runs.run(CROSSED, output, "execution.engine=torch", "execution.device=cpu")
    assert code == 0, err
    program("stats", output)
    return output


def test_crossed_markers_stand_in_both_orders_and_omissions_are_told(crossed):
    data = xarray.open_dataset(crossed / "coreference.h5")
    assert data.logprob.dims == ("group", "rephrasing", "template", "occupation", "subword")
    one = data.sel(group="aug1 disabled Black")
    place = ("group_kind", "group_first", "group_second", "group_domain", "group_privilege", "group_augmentation")
    assert [one[name].item() for name in place] == [
        "intersection", "disabled", "Black", "disability x race", "disadvantaged", "aug1"]
    labels = set(data.group.values)
    assert {"aug2 Black disabled", "aug4 old White", "aug1 Catholic Black", "aug1 Catholic"} <= labels
    assert "aug1 Black young" not in labels and "aug1 young White" in labels
    plan = program("plan", CROSSED)
    assert "veterans: no adjective" in plan and "Black + young: excluded" in plan


def test_an_intersections_number_is_transformers(crossed):
    """One sentence, written out by hand."""
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    folder = runs.ROOT / "tests/models/planted_causal"
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    prompt = ('The Black disabled electrician waved at the florist because he needed a ladder. '
              'The pronoun "he" refers to the')
    data = xarray.open_dataset(crossed / "coreference.stats.h5")
    raw = xarray.open_dataset(crossed / "coreference.h5")
    texts = raw.sel(group="aug1 Black disabled", rephrasing="refers_to").prompt
    (label,) = texts.template.values[texts.values == prompt]
    place = {"subject": "aug1 Black disabled", "template": label, "rephrasing": "refers_to", "replicate": "none"}
    sums = []
    for item, occupation in (("referent", " electrician"), ("other", " florist")):
        before, ids = tokenizer(prompt).input_ids, tokenizer(prompt + occupation).input_ids
        start = next(i for i, token in enumerate(ids) if i >= len(before) or token != before[i])
        with torch.no_grad():
            logits = model(torch.tensor([ids])).logits[0].double()
        sums.append(sum(torch.log_softmax(logits[k - 1], 0)[ids[k]].item() for k in range(start, len(ids))))
        found = data.score.sel(place | {"item": item, "measure": "log_probability"}).item()
        numpy.testing.assert_allclose(found, sums[-1], atol=2e-4)
    share = data.score.sel(place | {"item": "referent", "measure": "share"}).item()
    numpy.testing.assert_allclose(share, 1 / (1 + numpy.exp(sums[1] - sums[0])), atol=1e-4)


def test_what_belongs_to_one_prompt_stands_at_the_referent(crossed):
    data = xarray.load_dataset(crossed / "coreference.stats.h5")
    assert data.score.dims == ("measure", "subject", "template", "rephrasing", "replicate", "item")
    assert data.score.sizes["rephrasing"] == 2
    status = data.score_status.sel(item="other")
    assert (status.sel(measure="margin") == 5).all() and (status.sel(measure="share") == 0).all()
