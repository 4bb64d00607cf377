"""GGUF files: numbers against the `gguf` wheel bit for bit, models against transformers, ids against the libraries that
made the vocabularies; a published chat model; files that are damaged or not known."""
import json
import shutil
import struct
import sys
from pathlib import Path

import gguf_files
import h5py
import numpy
import pytest
import runs
import torch
import transformers
from causal_models import LLAMA, VARIANTS, Program, ids_of, save, theirs, tiny
from tokenizers import Tokenizer, pre_tokenizers

sys.path.insert(0, str(Path(__file__).parents[1] / "tokenizer"))
sys.path.insert(0, str(Path(__file__).parents[1] / "models/real"))
import fetch_chat  # noqa: E402
import fuzz_pieces  # noqa: E402
from causal_families import CAUSAL  # noqa: E402

KINDS = gguf_files.PLAIN + gguf_files.SMALL + gguf_files.LARGE
TEXTS = ["The nurse said that she'd be 1234567 late.", "  two  spaces\n\n\tand tabs ", "ÉCOLE naïve — “quotes”, 她是医生 です",
         "DON'T camelCase XMLHttpRequest snake_case", "<|im_start|>user\nHi<|im_end|>", "", " ", "x" * 90, "½ ① 3.14 1e-5"]


@pytest.fixture(scope="module")
def program():
    running = Program()
    yield running
    running.close()


def compare(program, model, folder, sequences=None):
    sequences = sequences or ids_of()
    _, logprobs = program.numbers(folder, model.config, sequences)
    _, expected = theirs(model, sequences)
    assert expected.std() > 0.5, "a flat distribution would hide errors"
    assert numpy.abs(logprobs - expected).max() <= 2e-4


@pytest.mark.parametrize("kind", KINDS)
def test_every_type_bit_for_bit_and_in_a_whole_model(program, kind, tmp_path):
    wide = 256 if kind in gguf_files.LARGE else 64
    model = tiny("llama", **LLAMA | dict(hidden_size=wide, intermediate_size=wide))
    gguf_files.write(model, tmp_path / "model.gguf", kind)
    states, _ = program.numbers(tmp_path, model.config, ids_of())
    ids = [token for sequence in ids_of() for token in sequence]
    assert (states[0] == model.model.embed_tokens.weight.detach().numpy()[ids]).all()  # what is embedded is what is stored
    compare(program, model, tmp_path)


FAMILIES = ["llama", "llama one key head", "llama head_dim, biases", "llama tied, relu", "mistral", "mixtral", "qwen2",
            "qwen3", "qwen3_moe", "phi3", "phi3 part turns", "gemma", "gemma2", "starcoder2", "olmo2", "granite", "smollm3"]


@pytest.mark.parametrize("variant", FAMILIES)
@pytest.mark.parametrize("kind", ["F32", "Q8_0"])
def test_every_architecture(program, variant, kind, tmp_path):
    family, settings = VARIANTS[variant]
    if variant == "llama tied, relu":
        settings = {key: value for key, value in settings.items() if key != "hidden_act"}  # the format has no activation
    wide = dict(hidden_size=64, intermediate_size=96, num_attention_heads=4)
    if "head_dim" in settings:
        wide["head_dim"] = 16 if family.startswith("gemma") else 24
    if family == "qwen3_moe":
        wide["moe_intermediate_size"] = 32
    if family == "gemma2":
        wide["query_pre_attn_scalar"] = wide["head_dim"]  # what llama.cpp takes
    model = gguf_files.write(tiny(family, **settings | wide), tmp_path / "model.gguf", kind)
    compare(program, model, tmp_path)


def test_gemma3(program, tmp_path):
    settings = LLAMA | dict(num_hidden_layers=7, head_dim=16, query_pre_attn_scalar=16, sliding_window=5, rope_parameters=dict(
        full_attention=dict(rope_type="linear", factor=8.0, rope_theta=1e6),
        sliding_attention=dict(rope_type="default", rope_theta=10000.0)))
    model = gguf_files.write(tiny("gemma3_text", **settings), tmp_path / "model.gguf",
                             keys={"rope.scaling.type": "linear", "rope.scaling.factor": 8.0})
    compare(program, model, tmp_path)


def test_a_window_of_zero_is_none(program, tmp_path):
    """As Phi-4's files have it."""
    model = tiny("phi3", **LLAMA | dict(sliding_window=None))
    gguf_files.write(model, tmp_path / "model.gguf", keys={"attention.sliding_window": 0})
    compare(program, model, tmp_path)


@pytest.mark.parametrize(("variant", "key"), [
    ("llama", "llama.attention.layer_norm_rms_epsilon"), ("llama", "llama.context_length"), ("llama", "llama.block_count"),
    ("starcoder2", "starcoder2.attention.layer_norm_epsilon"), ("granite", "granite.residual_scale"),
    ("mixtral", "llama.expert_used_count")])
def test_a_setting_that_is_missing_is_no_default(program, variant, key, tmp_path):
    family, settings = VARIANTS[variant]
    gguf_files.write(tiny(family, **settings), tmp_path / "model.gguf")
    content = (tmp_path / "model.gguf").read_bytes()
    (tmp_path / "model.gguf").write_bytes(content.replace(key.encode(), b"x" * len(key)))
    answer, _ = program.run(tmp_path, ids_of())
    assert f"{key}: is missing" in answer["error"]


def test_keys_are_as_many_as_queries_where_the_file_does_not_say(program, tmp_path):
    model = tiny("qwen2", **LLAMA | dict(num_key_value_heads=4))
    gguf_files.write(model, tmp_path / "model.gguf")
    content = (tmp_path / "model.gguf").read_bytes()
    key = b"qwen2.attention.head_count_kv"
    (tmp_path / "model.gguf").write_bytes(content.replace(key, b"x" * len(key)))
    compare(program, model, tmp_path)


@pytest.mark.parametrize("variant", ["llama3 scaling", "llama linear", "llama yarn", "phi3 longrope, window"])
def test_scaled_angles(program, variant, tmp_path):
    family, settings = VARIANTS[variant]
    model, rope = tiny(family, **settings), settings["rope_parameters"]
    keys, tensors = {}, {}
    if variant == "llama3 scaling":  # llama.cpp stores the factor of each frequency
        default = tiny("llama", **LLAMA).model.rotary_emb.inv_freq
        tensors["rope_freqs.weight"] = (default / model.model.rotary_emb.inv_freq).numpy().astype(numpy.float32)
    elif family == "phi3":
        tensors = {f"rope_factors_{kind}.weight": numpy.array(rope[f"{kind}_factor"], numpy.float32)
                   for kind in ("long", "short")}
        keys = {"rope.scaling.original_context_length": 32}
    else:
        keys = {"rope.scaling.type": rope["rope_type"], "rope.scaling.factor": rope["factor"]}
        if "original_max_position_embeddings" in rope:
            keys["rope.scaling.original_context_length"] = rope["original_max_position_embeddings"]
    gguf_files.write(model, tmp_path / "model.gguf", keys=keys, tensors=tensors)
    lengths = [7, 12, 1, 30, 9] if family == "phi3" else [7, 12, 1, 39, 9]
    compare(program, model, tmp_path, ids_of(lengths))


PRE = {"llama3": ("llama-bpe", "<|begin_of_text|>"), "qwen": ("qwen2",), "olmo2": ("dbrx",), "starcoder2": ("starcoder",),
       "tekken": ("tekken", "<s>"), "o200k": ("gpt-4o", "<s>", True), "opt": ("gpt-2", "</s>", True)}  # True: said to begin texts


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    """Made once: a model with any vocabulary."""
    def make(tokenizer, size, chat=None):
        folder = tmp_path_factory.mktemp("named")
        model = tiny("llama", **LLAMA | dict(vocab_size=size))
        gguf_files.write(model, folder / "model.gguf", tokenizer=tokenizer)
        return folder / "model.gguf"
    return make


def ours(path, texts):
    lines = "".join(json.dumps(text) + "\n" for text in texts)
    done = runs.program("tokenize", "--model", path, "--json-lines", input=lines)
    assert done.returncode == 0, done.stderr
    return [json.loads(line)["ids"] for line in done.stdout.splitlines()]


@pytest.mark.parametrize("family", PRE)
def test_ids_of_byte_pairs(named, family):
    tokenizer = CAUSAL[family]()
    pre, first, begins = (*PRE[family], None, None)[:3]
    flags = {} if begins is None else {"add_bos_token": begins}
    path = named(gguf_files.byte_pairs(tokenizer, pre, first, **flags), tokenizer.get_vocab_size())
    assert ours(path, TEXTS) == [tokenizer.encode(text).ids for text in TEXTS]


def test_an_ordinary_token_that_is_named_stays_ordinary(named):
    """Converters copy `pad_token_id: 0` of config.json, which may be "!"."""
    tokenizer = CAUSAL["qwen"]()
    quote = tokenizer.token_to_id('"')

    def add(writer):
        gguf_files.byte_pairs(tokenizer, "qwen2")(writer)
        writer.add_pad_token_id(quote)
        writer.add_bos_token_id(quote)
    texts = ['"""Help."""', 'f("x")', *TEXTS]
    assert ours(named(add, tokenizer.get_vocab_size()), texts) == [tokenizer.encode(text).ids for text in texts]


def test_pieces_without_ranks_are_refused(named):
    """As llama.cpp writes the vocabulary of a folder that has tokenizer.json alone."""
    _, processor = fuzz_pieces.train("llama")

    class Flat:
        get_score = staticmethod(lambda i: -1000.0)

        def __getattr__(self, name):
            return getattr(processor, name)
    refused(named(gguf_files.pieces(Flat()), processor.get_piece_size()), "tokenizer.ggml.scores: are all alike")


def test_ids_of_pieces(named):
    _, processor = fuzz_pieces.train("llama")
    path = named(gguf_files.pieces(processor, add_bos_token=False), processor.get_piece_size())
    assert ours(path, TEXTS[:4]) == [processor.encode(text) for text in TEXTS[:4]]


@pytest.fixture(scope="module")
def published():
    return fetch_chat.fetched_or_skipped()


def test_a_published_chat_model(published):
    """SmolLM2-135M-Instruct in Q4_1: ids and log-probabilities as transformers reads the file."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(published.parent, gguf_file=published.name)
    # transformers does not know how "smollm" splits words, which matters where digits are none of 0 to 9.
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    model = transformers.AutoModelForCausalLM.from_pretrained(published.parent, gguf_file=published.name, dtype=torch.float32)
    assert ours(published, TEXTS) == [tokenizer(text).input_ids for text in TEXTS]
    prompts = [("The nurse said that", " she was tired."), ("<|im_start|>user\nWho works harder?<|im_end|>\n<|im_start|>assistant\n",
                                                             "I think both work hard.")]
    questions = [{"kind": "continue", "prompt": prompt, "continuations": [text]} for prompt, text in prompts]
    questions.append({"kind": "generate", "prompt": prompts[1][0], "max_new_tokens": 16, "temperature": 0})
    done = runs.program("query", "--model", published, input="".join(json.dumps(one) + "\n" for one in questions))
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    for (prompt, text), answer in zip(prompts, answers):
        before, joint = tokenizer(prompt.rstrip()).input_ids, tokenizer(prompt + text).input_ids
        start = next((i for i, pair in enumerate(zip(before, joint)) if pair[0] != pair[1]), len(before))
        with torch.inference_mode():
            logs = model(torch.tensor([joint])).logits[0].double().log_softmax(-1)
        expected = [logs[i - 1, joint[i]].item() for i in range(start, len(joint))]
        assert numpy.abs(numpy.array(answer["tokens"][0]) - expected).max() <= 2e-4
    asked = tokenizer(prompts[1][0], return_tensors="pt")
    expected = model.generate(**asked, max_new_tokens=16, do_sample=False)[0, asked.input_ids.shape[1]:].tolist()
    assert answers[2]["ids"] == [token for token in expected if token != tokenizer.eos_token_id]


def test_what_is_said_of_a_file(published):
    said = runs.program("models", published.parent).stdout
    assert "stored    GGUF (210 Q4_1, 61 F32, 1 Q8_0)" in said
    assert "memory    538 MB of weights in float32, 269 MB in bfloat16 or float16" in said


@pytest.fixture
def small(tmp_path):
    model = tiny("llama", **LLAMA)
    path = tmp_path / "model.gguf"
    gguf_files.write(model, path, keys={"general.alignment": 32})
    return path


def refused(path, message):
    done = runs.program("query", "--model", path, input="{}\n")
    assert done.returncode == 2 and message in done.stderr, done.stderr


CHANGES = {
    "no GGUF": (lambda b: b"GGML" + b[4:], "is no GGUF file"),
    "version": (lambda b: b[:4] + struct.pack("<I", 9) + b[8:], "version 9"),
    "tensors": (lambda b: b[:8] + struct.pack("<Q", 1 << 60) + b[16:], "tensors and"),
    "keys": (lambda b: b[:16] + struct.pack("<Q", 1 << 60) + b[24:], "keys are announced"),
    "a long key": (lambda b: b[:24] + struct.pack("<Q", 1 << 40) + b[32:], "a key has 1099511627776 bytes"),
    "cut in the header": (lambda b: b[:200], "cut short"),
    "cut in the data": (lambda b: b[:-64], "ends behind the end of the file"),
    "more behind": (lambda b: b + b"\0" * 64, "bytes after the last tensor"),
    "type": (lambda b: b.replace(b"token_embd.weight\x02\0\0\0\x30", b"token_embd.weight\x09\0\0\0\x30"), "9 dimensions"),
    "no dimensions": (lambda b: b.replace(b"output_norm.weight\x01\0\0\0" + struct.pack("<Q", 48),
                                          b"output_norm.weight\0\0\0\0"), "output_norm.weight\" has 0 dimensions"),
    "shape": (lambda b: b.replace(b"output_norm.weight\x01\0\0\0\x30\0\0\0\0\0\0\0", b"output_norm.weight\x01\0\0\0\x30\0\0\0\0\0\0\xff"),
              "output_norm.weight"),
    "alignment": (lambda b: b.replace(b"general.alignment\x04\0\0\0\x20", b"general.alignment\x04\0\0\0\x21"),
                  "general.alignment is 33"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_damaged_file_is_refused(small, change):
    edit, message = CHANGES[change]
    content = small.read_bytes()
    assert edit(content) != content
    small.write_bytes(edit(content))
    refused(small, message)


@pytest.mark.parametrize(("keys", "message"), [
    ({"attention.clamp_kqv": 3.0}, "llama.attention.clamp_kqv: is not known to this program"),
    ({"split.count": 3}, "one of 3 parts of a model"),
    ({"attention.value_length": 6}, "llama.attention.value_length: differs from the width of keys"),
])
def test_settings_that_are_not_known_are_refused(tmp_path, keys, message):
    gguf_files.write(tiny("llama", **LLAMA), tmp_path / "model.gguf", keys=keys)
    refused(tmp_path / "model.gguf", message)


def test_several_files_in_a_folder(tmp_path):
    for name in ("one.gguf", "two.gguf"):
        gguf_files.write(tiny("llama", **LLAMA), tmp_path / name)
    refused(tmp_path, "holds 2 GGUF files and no config.json")
    refused(tmp_path / "three.gguf", "three.gguf")


PLANTED = runs.ROOT / "tests/models/planted_causal"
JOB = runs.ROOT / "jobs/50_ratings.yaml"
SMALL = ["axes.identities={file: scm_identities, only: [old women, poor women, fat women]}", "axes.people=[women]", "axes.rated_traits={file: scm_traits, only: [warm, competitive]}",
         "sampling.runs=1", "statistics={}", "execution.contexts_per_block=4"]


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """The bundled model as a GGUF file of the same float32 numbers."""
    path = tmp_path_factory.mktemp("planted") / "planted.gguf"
    model = transformers.AutoModelForCausalLM.from_pretrained(PLANTED, dtype=torch.float32)
    tokenizer = Tokenizer.from_file(str(PLANTED / "tokenizer.json"))
    gguf_files.write(model, path, tokenizer=gguf_files.byte_pairs(tokenizer, "gpt-2", "<|endoftext|>", add_bos_token=True))
    return path


def test_ranks_share_a_file_and_get_the_numbers_of_the_folder(planted, tmp_path):
    assert runs.run(JOB, tmp_path / "folder", *SMALL)[0] == 0
    code, _, err = runs.run(JOB, tmp_path / "file", *SMALL, f"model.path={planted}", ranks=2)
    assert code == 0, err
    assert runs.digest(tmp_path / "file") == runs.digest(tmp_path / "folder")
    with h5py.File(tmp_path / "file/rating.h5") as file:
        assert file.attrs["model_storage"] in ("GGUF (38 F32)", b"GGUF (38 F32)")
        assert "model/planted.gguf" in json.loads(file.attrs["settings"])
    assert "model_storage: GGUF (38 F32)" in runs.program("show", tmp_path / "file").stdout
    assert "stored as GGUF (38 F32)" in runs.program("plan", JOB, *SMALL, f"model.path={planted}").stdout
    assert runs.program("verify", tmp_path / "file").returncode == 0


def test_another_file_is_another_run(planted, tmp_path):
    copy = tmp_path / "copy.gguf"
    content = planted.read_bytes()
    copy.write_bytes(content)
    assert runs.run(JOB, tmp_path / "run", *SMALL, f"model.path={copy}", inject="block_start:2:throw")[0] == 1
    copy.write_bytes(content[:-64] + bytes(64))
    code, _, err = runs.run(JOB, tmp_path / "run", *SMALL, f"model.path={copy}")
    assert code == 2 and "model/copy.gguf: other content than before" in err
    copy.write_bytes(content)
    assert runs.run(JOB, tmp_path / "run", *SMALL, f"model.path={copy}")[0] == 0


def test_slices_of_a_file_are_those_of_the_folder(tmp_path):
    """Rows of queries and keys that the file stores in another order, in blocks, cut for two ranks."""
    model = tiny("llama", **LLAMA | dict(hidden_size=64, intermediate_size=96, vocab_size=1255, max_position_embeddings=512,
                                      bos_token_id=0, eos_token_id=0))
    tokenizer = Tokenizer.from_file(str(PLANTED / "tokenizer.json"))
    gguf_files.write(model, tmp_path / "model.gguf", "Q8_0",
                     tokenizer=gguf_files.byte_pairs(tokenizer, "gpt-2", "<|endoftext|>", add_bos_token=True))
    save(model, tmp_path / "folder")
    shutil.copy(PLANTED / "tokenizer.json", tmp_path / "folder")
    digests = set()
    for name, place in (("one", "folder"), ("two", "model.gguf")):
        code, _, err = runs.run(JOB, tmp_path / name, *SMALL, "execution.tensor_parallel=2", f"model.path={tmp_path / place}", ranks=2)
        assert code == 0, err
        digests.add(runs.digest(tmp_path / name))
    assert len(digests) == 1
