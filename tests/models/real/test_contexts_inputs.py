"""What jobs/60_ceat.yaml reads is put in place once, whole and always the same."""

import contexts_inputs
import glosses
import merge
import pytest

LINES = {
    "noun": '  1 licence text | not "a line of data"\n00001 03 n 01 rose 0 | a plant of many kinds; "she grew a rose here"; "roses"\n',
    "verb": "00002 29 v 01 rise 0 | move up to a place  \n",
    "adj": '00003 00 a 01 rosy 0 | a plant of many kinds; "a rosy face of old"\n',
    "adv": "00004 02 r 01 ever 0 | at any time\n",
}


@pytest.fixture
def dictionary(tmp_path):
    folder = tmp_path / "wordnet"
    folder.mkdir()
    for part, text in LINES.items():
        (folder / f"data.{part}").write_text(text)
    return folder


def test_corpus_has_one_sentence_a_line(dictionary, tmp_path):
    target = tmp_path / "new" / "corpus.txt"
    contexts_inputs.write_corpus(target, dictionary)
    assert target.read_text().splitlines() == [
        "a plant of many kinds", "a rosy face of old", "at any time", "move up to a place", "she grew a rose here"]
    before = target.stat().st_mtime_ns
    contexts_inputs.write_corpus(target, dictionary)
    assert target.stat().st_mtime_ns == before
    target.write_text("cut")
    contexts_inputs.write_corpus(target, dictionary)
    assert target.read_text().count("\n") == 5
    assert [path.name for path in target.parent.iterdir()] == ["corpus.txt"]


def test_a_missing_dictionary_is_named(tmp_path):
    with pytest.raises(SystemExit, match="wordnet-base"):
        contexts_inputs.write_corpus(tmp_path / "corpus.txt", tmp_path / "none")


def test_the_real_dictionary_is_a_corpus(tmp_path):
    if not glosses.DICTIONARY.is_dir():
        pytest.skip("wordnet-base is not installed")
    contexts_inputs.write_corpus(tmp_path / "corpus.txt")
    lines = (tmp_path / "corpus.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) > 100_000 and all(len(line.split()) >= 3 for line in lines)


def test_model_is_a_link_that_is_mended(tmp_path):
    target = tmp_path / "models" / "minilm"
    contexts_inputs.link_model(target)
    assert (target / "model.safetensors").samefile(merge.base_directory() / "model.safetensors")
    target.unlink()
    target.symlink_to(tmp_path)
    contexts_inputs.link_model(target)
    assert (target / "config.json").exists()
    target.unlink()
    target.mkdir()
    with pytest.raises(SystemExit, match="no link"):
        contexts_inputs.link_model(target)
