"""Writes the readers' corpus: small real inputs, and some that are damaged ("damaged..."). What it writes is committed.

    python tests/readers/make_corpus.py BUILD/bin/stereosweep
"""

import io
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

import gguf
import h5py
import numpy
import sentencepiece

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def save(reader, name, content):
    folder = HERE / "corpus" / reader
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def dump(value):
    return json.dumps(value, ensure_ascii=False)


def answers():
    save("answer", "rating", dump({"kind": "rating", "text": "I would say **4** out of 5.", "low": 1, "high": 5}))
    save("answer", "options", dump({"kind": "rating", "text": "<think>1?</think> Somewhat likely.", "options": ["not likely", "somewhat likely"]}))
    save("answer", "ratings", dump({"kind": "ratings", "items": ["warm", "competent"], "low": 1, "high": 5, "text": "| warm | 4 |\n| competent | 2–3 |"}))
    save("answer", "keywords", dump({"kind": "keywords", "text": "1. kind\n2. **patient**, hard-working", "most": 10}))
    save("answer", "reasons", dump({"kind": "reasons", "keywords": ["kind", "calm"], "text": "- kind: they help.\n- calm: never loud."}))
    save("answer", "damaged_scale", dump({"kind": "rating", "text": "4", "low": 5, "high": 1}))
    save("answer", "damaged_json", '{"kind":"rating","text":"4')


def chats():
    jinja = "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}\n{% endfor %}"
    save("chat_template", "text", dump({"chat_template": jinja}))
    save("chat_template", "list", dump({"chat_template": [{"name": "default", "template": jinja}, {"name": "tools", "template": "x"}]}))
    save("chat_template", "damaged_type", dump({"chat_template": 7}))


def models():
    for name in ("planted", "planted_causal", "letters"):
        save("config", name, (ROOT / "tests/models" / name / "config.json").read_text())
    save("config", "damaged_size", (ROOT / "tests/models/planted/config.json").read_text().replace('"hidden_size": ', '"hidden_size": -'))
    save("tokenizer", "letters", (ROOT / "tests/models/letters/tokenizer.json").read_text())
    save("tokenizer", "damaged_ids", (ROOT / "tests/models/letters/tokenizer.json").read_text().replace('"id": ', '"id": -'))
    header = {"a": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}, "b": {"dtype": "BF16", "shape": [3], "data_offsets": [16, 22]},
              "__metadata__": {"format": "pt"}}
    text = json.dumps(header).encode()
    save("safetensors", "two", struct.pack("<Q", len(text)) + text + bytes(22))
    save("safetensors", "damaged_end", struct.pack("<Q", len(text)) + text + bytes(20))
    save("safetensors", "damaged_length", struct.pack("<Q", 2**63 + 1) + text)
    for kind in ("bpe", "unigram"):
        model = io.BytesIO()
        sentences = ["the nurse said hello to the doctor", "a person who is kind", "ab abc abcd b bc bcd"] * 5
        sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(sentences), model_writer=model, model_type=kind, vocab_size=40,
                                                 hard_vocab_limit=False, minloglevel=2, normalization_rule_name="identity")
        save("sentencepiece", kind, model.getvalue())
    save("sentencepiece", "damaged", model.getvalue()[:300])


def gguf_files():
    """A layer of a LLaMA with the tokenizers of both kinds, matrices in Q4_K and Q8_0."""
    letters = [bytes([i]).decode("latin-1") for i in range(33, 127)]
    for kind in ("gpt2", "llama"):
        tokens = ["<s>", "</s>", *letters, "ab"] if kind == "gpt2" else ["<unk>", "<s>", "</s>", "\u2581", "a", "b", "ab"]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.gguf"
            writer = gguf.GGUFWriter(path, "llama")
            for key, value in {"block_count": 1, "context_length": 16, "embedding_length": 256, "feed_forward_length": 32,
                               "attention.head_count": 4, "attention.head_count_kv": 2}.items():
                writer.add_uint32("llama." + key, value)
            writer.add_layer_norm_rms_eps(1e-5)
            writer.add_tokenizer_model(kind)
            writer.add_token_list(tokens)
            writer.add_token_types([3, 3] + [1] * (len(tokens) - 2) if kind == "gpt2" else [2, 3, 3, 1, 1, 1, 1])
            writer.add_bos_token_id(tokens.index("<s>"))
            writer.add_chat_template("{{ messages[0]['content'] }}")
            if kind == "gpt2":
                writer.add_tokenizer_pre("smollm")
                writer.add_token_merges(["a b"])
            else:
                writer.add_token_scores([-float(i) for i in range(len(tokens))])
            draw = numpy.random.default_rng(1)
            writer.add_tensor("token_embd.weight", draw.integers(0, 9, (len(tokens), 144), dtype=numpy.uint8),
                              raw_dtype=gguf.GGMLQuantizationType.Q4_K)
            writer.add_tensor("blk.0.attn_q.weight", draw.integers(0, 9, (32, 272), dtype=numpy.uint8),
                              raw_dtype=gguf.GGMLQuantizationType.Q8_0)
            writer.add_tensor("output_norm.weight", numpy.ones(256, numpy.float32))
            writer.write_header_to_file()
            writer.write_kv_data_to_file()
            writer.write_tensors_to_file()
            writer.close()
            content = path.read_bytes()
        save("gguf", kind, content)
    save("gguf", "damaged_end", content[:-100])
    save("gguf", "damaged_scores", content.replace(struct.pack("<7f", *(-float(i) for i in range(7))), bytes(28)))
    save("gguf", "damaged_count", content[:8] + struct.pack("<Q", 1 << 40) + content[16:])


def elmo():
    options = {"lstm": {"use_skip_connections": True, "projection_dim": 2, "cell_clip": 3, "proj_clip": 3, "dim": 4, "n_layers": 1},
               "char_cnn": {"activation": "relu", "filters": [[1, 2]], "n_highway": 1, "embedding": {"dim": 2}, "n_characters": 262,
                            "max_characters_per_token": 50}}
    save("elmo_options", "small", dump(options))
    save("elmo_options", "damaged_filters", dump({**options, "char_cnn": {**options["char_cnn"], "filters": [[1]]}}))
    memory = io.BytesIO()
    with h5py.File(memory, "w", libver="earliest") as file:
        def table(name, *shape):
            file.create_dataset(name, data=numpy.linspace(-1, 1, int(numpy.prod(shape)), dtype="f4").reshape(shape))

        table("char_embed", 261, 2)
        table("CNN/W_cnn_0", 1, 1, 2, 2)
        table("CNN/b_cnn_0", 2)
        for part in ("transform", "carry"):
            table(f"CNN_high_0/W_{part}", 2, 2)
            table(f"CNN_high_0/b_{part}", 2)
        table("CNN_proj/W_proj", 2, 2)
        table("CNN_proj/b_proj", 2)
        for direction in (0, 1):
            cell = f"RNN_{direction}/RNN/MultiRNNCell/Cell0/LSTMCell"
            table(f"{cell}/W_0", 4, 16)
            table(f"{cell}/B", 16)
            table(f"{cell}/W_P_0", 4, 2)
    save("elmo_weights", "small", memory.getvalue())
    save("elmo_weights", "damaged_cut", memory.getvalue()[:5000])


def texts():
    save("winobias", "plain", "[The developer] argued with the designer because [she] did not like the idea.")
    save("winobias", "braces", "{The nurse} called [the developer] and asked for [his] help.")
    save("winobias", "damaged_open", "[The developer argued with the designer.")
    save("table", "tabs", "group\tpair\tmean\nwomen\tcold - warm\t61.5\nmen\tcold - warm\t44\n")
    save("table", "quotes", 'group;pair;mean\n"women; girls";"cold ""-"" warm";1\n')
    save("table", "damaged_row", "group,pair,mean\nwomen,cold - warm\n")
    save("query", "continue", dump({"kind": "continue", "prompt": "The nurse said", "continuations": [" hello", " é"]}))
    save("query", "generate", dump({"kind": "generate", "messages": [{"role": "user", "content": "Who?"}], "max_new_tokens": 5, "top_p": 0.5}))
    save("query", "embed", dump({"kind": "embed", "text": "a nurse", "span": [2, 7], "layer": "sum", "pool": "mean"}))
    save("query", "fill", dump({"kind": "fill", "text": "The [MASK] is", "ids": [[1, 2]]}))
    save("query", "damaged_field", dump({"kind": "fill", "text": "The [MASK] is", "idss": [[1]]}))
    vectors = {b"\0": "2 3\nwoman 1 0.5 -2\nman 0 1e-3 4\n".encode(),
               b"\1": b"2 2\nwoman " + struct.pack("<2f", 1, 2) + b"\nman " + struct.pack("<2f", 3, 4) + b"\n",
               b"\2": "woman 1 2 3\nNew York 4 5 6\n".encode()}
    for name, (first, rest) in zip(("word2vec_text", "word2vec_binary", "glove"), vectors.items(), strict=True):
        save("word_vectors", name, first + rest)
    save("word_vectors", "damaged_rows", b"\0" + b"9 3\nwoman 1 2 3\n")


def jobs(program):
    for name in ("00_smoke", "41_crossed_markers"):
        save("yaml", name, (ROOT / "jobs" / f"{name}.yaml").read_text())
    save("yaml", "damaged_alias", "a: &x\n  - *x")
    with tempfile.TemporaryDirectory() as folder:
        small = ["axes.groups=[{singular: woman, plural: women, domain: gender}]", "axes.intersections=none", "axes.traits=[[weak, strong]]",
                 "axes.templates={file: abc_templates, only: [the_word]}", "axes.rephrasings={file: voices, only: [none]}"]
        subprocess.run([program, "run", ROOT / "jobs/00_smoke.yaml", *small, "--output", f"{folder}/run"], check=True, capture_output=True)
        resolved = (pathlib.Path(folder) / "run/job.resolved.yaml").read_text().replace(f"{ROOT}/", "")
        journal = max((pathlib.Path(folder) / "run/journal").rglob("*.log"), key=lambda path: path.stat().st_size).read_bytes()
    save("job", "smoke", resolved)
    save("job", "damaged_probe", resolved.replace("probe:", "prob:"))
    save("journal", "small", journal)
    save("journal", "damaged_head", journal[:12] + b"\xff" * 20 + journal[32:])


if __name__ == "__main__":
    answers()
    chats()
    models()
    gguf_files()
    elmo()
    texts()
    jobs(pathlib.Path(sys.argv[1]).resolve())
