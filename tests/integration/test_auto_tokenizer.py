"""Folders whose tokenizer_config.json, class or older files say otherwise than tokenizer.json: AutoTokenizer's ids, or a
warning or refusal that names the key."""
import json
import os
import string
import subprocess
from pathlib import Path

import pytest
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import AutoTokenizer

PROGRAM = Path(os.environ.get("STEREOSWEEP_PROGRAM", Path(__file__).parents[2] / "build/release/bin/stereosweep"))
LETTERS = [*string.ascii_letters, *string.digits, *string.punctuation, *"éÉàüñÅßçœ他她是医生の½ﬁｆ①"]
WORDS = ["the", "nurse", "Nurse", "doctor", "is", "kind", "they", "don't", "naïve", "É", "École", "école", "café"]
BERT = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
ROBERTA = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
LINES = ["The nurse is kind and the doctor said that they don't know.", "École naïve, café; Ångström 1234", "她是医生 the Nurse"] * 40
TEXTS = ["The Nurse is KIND", " the nurse", "  two  spaces ", "École naïve café É", "她是医生 the doctor", "don't, they're (1234)!",
         "the {m} is", "the{m}is", "the {m}, {m}.", "{m} the", "THE {m}  É", "ﬁ ｆ ½ ①", "line\nline\tx", "", "``a'' b",
         "the <new> one", "the<new>One", "the <other>, [EXTRA] x", "<s> a </s>", "[CLS] a [SEP]", "<|endoftext|>a", "e\u0301x", "x<pad>y [PAD]"]


def with_letters(words, continued=""):
    pieces = [*words, *WORDS, *LETTERS, *(continued + letter for letter in LETTERS)]
    return {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}


def bert(lowercase=True, accents=None, chinese=True, added=BERT):
    vocabulary = with_letters(BERT, "##")
    made = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=lowercase, strip_accents=accents, handle_chinese_chars=chinese)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece()
    made.add_special_tokens(added)
    return framed(made, "[CLS]", "[SEP]")


def framed(made, first, last):
    number = made.token_to_id
    made.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}", special_tokens=[(first, number(first)), (last, number(last))])
    return made


def byte_level(specials, prefix=False, normalizer=None, pre=None):
    made = Tokenizer(models.BPE())
    made.normalizer = normalizer
    made.pre_tokenizer = pre or pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    made.decoder = decoders.ByteLevel()
    made.train_from_iterator(LINES, trainers.BpeTrainer(vocab_size=330, special_tokens=specials, show_progress=False,
                                                        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return made


def roberta(prefix=False, mask={"lstrip": True}):
    made = byte_level(ROBERTA, prefix)
    if mask is not None:
        made.add_special_tokens([AddedToken("<mask>", special=True, normalized=False, **mask)])
    made.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=prefix)
    return made


def gpt2(prefix=False):
    return byte_level(["<|endoftext|>"], prefix)


def neox():
    return byte_level(["<|endoftext|>", "<|padding|>"], normalizer=normalizers.NFC())


def qwen(normalizer=normalizers.NFC()):
    from tokenizers import Regex
    from transformers.models.qwen2.tokenization_qwen2 import PRETOKENIZE_REGEX
    pre = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(PRETOKENIZE_REGEX), "isolated"),
                                   pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    return byte_level(["<|endoftext|>", "<|im_start|>"], normalizer=normalizer, pre=pre)


def unigram(specials, unknown, normalizer=None, prefix=True, first=None, last=None, pre=None):
    pieces = [*specials, *("▁" + word for word in WORDS), "▁", *LETTERS, "ed", "is", "the"]
    scored = [(piece, 0.0 if piece in specials else -2.0 - 0.01 * number)
              for number, piece in enumerate(dict.fromkeys(pieces))]
    made = Tokenizer(models.Unigram(scored, unk_id=specials.index(unknown)))
    made.normalizer = normalizer
    scheme = "always" if prefix else "never"
    made.pre_tokenizer = pre or pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(),
                                                         pre_tokenizers.Metaspace(prepend_scheme=scheme)])
    made.decoder = decoders.Metaspace()
    made.add_special_tokens([AddedToken(text, special=True, normalized=False, lstrip=text == "<mask>") for text in specials])
    return framed(made, first or specials[0], last or specials[2])


def xlmr(prefix=True):
    return unigram(["<s>", "<pad>", "</s>", "<unk>", "<mask>"], "<unk>", prefix=prefix)


def albert(lowercase=True, accents=False):
    steps = [normalizers.Replace("``", '"'), normalizers.Replace("''", '"')]
    steps += [] if accents else [normalizers.NFKD(), normalizers.StripAccents()]
    steps += [normalizers.Lowercase()] if lowercase else []
    return unigram(["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"], "<unk>", normalizers.Sequence(steps), first="[CLS]", last="[SEP]")


def deberta(lowercase=False, marks=False):
    from tokenizers import Regex
    steps = [normalizers.Lowercase()] if lowercase else []
    steps += [normalizers.Replace(Regex(r"\s{2,}|[\n\r\t]"), " "), normalizers.NFC(), normalizers.Strip(False, True)]
    pre = [pre_tokenizers.Punctuation("isolated")] if marks else []
    return unigram(["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"], "[UNK]", normalizers.Sequence(steps), first="[CLS]", last="[SEP]",
                   pre=pre_tokenizers.Sequence([*pre, pre_tokenizers.Metaspace(prepend_scheme="always")]))


def spelled(specials, **model):
    byte = [f"<0x{number:02X}>" for number in range(256)]
    letters = list(dict.fromkeys(["▁", *LETTERS]))
    joined = ["▁t", "▁th", "▁the", "▁n", "is", "▁is", "▁▁"]
    merges = [("▁", "t"), ("▁t", "h"), ("▁th", "e"), ("▁", "n"), ("i", "s"), ("▁", "is"), ("▁", "▁")]
    vocabulary = {piece: number for number, piece in enumerate([*specials, *byte, *letters, *joined])}
    made = Tokenizer(models.BPE(vocabulary, merges, fuse_unk=True, byte_fallback=True, **model))
    made.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in specials])
    return made


def llama(scheme="first", old=False):
    made = spelled(["<unk>", "<s>", "</s>"], unk_token="<unk>")
    if old:
        made.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    else:
        made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=False)
    made.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return made


def gemma(marks=True):
    made = spelled(["<pad>", "<eos>", "<bos>", "<unk>", "<mask>"], unk_token="<unk>")
    made.normalizer = normalizers.Replace(" ", "▁") if marks else None
    made.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    made.post_processor = processors.TemplateProcessing(single="<bos> $A", special_tokens=[("<bos>", 2)])
    return made


def added(text, number, **flags):
    return {str(number): {"content": text, "lstrip": False, "rstrip": False, "single_word": False, "normalized": False,
                          "special": True, **flags}}


def listed(made, **more):
    """The added_tokens_decoder that transformers writes for a tokenizer."""
    return {str(i): {"content": t.content, "lstrip": t.lstrip, "rstrip": t.rstrip, "single_word": t.single_word,
                     "normalized": t.normalized, "special": t.special, **more.get(t.content, {})}
            for i, t in made.get_added_tokens_decoder().items()}


MASK = {"mask_token": "[MASK]"}
NAMES = {"mask_token": "[MASK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]"}
R_NAMES = {"mask_token": "<mask>", "cls_token": "<s>", "sep_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
END = {"bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>", "unk_token": "<|endoftext|>"}
NEXT = len(with_letters(BERT, "##"))

# name: (tokenizer, model_type, tokenizer_class or None, settings, other files)
CASES = {
    "bert": (bert(), "bert", "BertTokenizer", NAMES, {}),
    "bert-lower-over-cased": (bert(False), "bert", "BertTokenizerFast", {"do_lower_case": True}, {}),
    "bert-cased-over-lower": (bert(), "bert", "BertTokenizerFast", {"do_lower_case": False}, {}),
    "bert-default-over-cased": (bert(False), "bert", "BertTokenizer", {}, {}),
    "bert-accents-kept": (bert(), "bert", "BertTokenizer", {"strip_accents": False}, {}),
    "bert-accents-taken": (bert(False), "bert", "BertTokenizer", {"do_lower_case": False, "strip_accents": True}, {}),
    "bert-accents-of-file": (bert(True, False), "bert", "BertTokenizer", {}, {}),
    "bert-accents-of-file-lower": (bert(True, False), "bert", "BertTokenizer", {"do_lower_case": True}, {}),
    "bert-chinese-whole": (bert(), "bert", "BertTokenizer", {"tokenize_chinese_chars": False}, {}),
    "bert-chinese-of-file": (bert(chinese=False), "bert", "BertTokenizer", {}, {}),
    "bert-null": (bert(), "bert", "BertTokenizer", {"strip_accents": None}, {}),
    "bert-general-class": (bert(False), "bert", "PreTrainedTokenizerFast", {"do_lower_case": True}, {}),
    "bert-no-class": (bert(False), "bert", None, {}, {}),
    "bert-no-class-given": (bert(False), "bert", None, {"do_lower_case": True}, {}),
    "distilbert": (bert(False), "distilbert", "DistilBertTokenizerFast", {"do_lower_case": False}, {}),
    "distilbert-default": (bert(False), "distilbert", "DistilBertTokenizer", {}, {}),
    "bert-mask-lstrip": (bert(), "bert", "BertTokenizer", {"added_tokens_decoder": listed(bert(), **{"[MASK]": {"lstrip": True}})}, {}),
    "bert-mask-rstrip": (bert(), "bert", "BertTokenizer", {"added_tokens_decoder": listed(bert(), **{"[MASK]": {"rstrip": True}})}, {}),
    "bert-mask-normalized": (bert(), "bert", "BertTokenizer",
                             {"added_tokens_decoder": listed(bert(), **{"[MASK]": {"normalized": True}})}, {}),
    "bert-mask-word": (bert(), "bert", "BertTokenizer", {"added_tokens_decoder": listed(bert(), **{"[MASK]": {"single_word": True}})}, {}),
    "bert-mask-object": (bert(), "bert", "BertTokenizer", {"mask_token": {"__type": "AddedToken", "content": "[MASK]", "lstrip": True,
                         "rstrip": False, "normalized": False, "single_word": False}}, {}),
    "bert-mask-not-added": (bert(added=BERT[:4]), "bert", "BertTokenizer", {"mask_token": "[MASK]"}, {}),
    "bert-mask-not-added-default": (bert(added=BERT[:4]), "bert", "BertTokenizer", {}, {}),
    "bert-none-added": (bert(added=[]), "bert", "BertTokenizer", NAMES, {}),
    "bert-mask-object-not-added": (bert(added=BERT[:4]), "bert", "BertTokenizer", {"mask_token": {"__type": "AddedToken",
                                   "content": "[MASK]", "lstrip": True, "rstrip": False, "normalized": False, "single_word": False}}, {}),
    "bert-decoder-only": (bert(), "bert", "BertTokenizer", {"added_tokens_decoder": {**listed(bert()), **added("<new>", NEXT)}}, {}),
    "bert-decoder-wrong-id": (bert(), "bert", "BertTokenizer", {"added_tokens_decoder": {**listed(bert()), **added("<new>", NEXT + 7)}}, {}),
    "bert-decoder-forgets": (bert(added=[*BERT, "<other>"]), "bert", "BertTokenizer", {"added_tokens_decoder": listed(bert())}, {}),
    "bert-decoder-plain": (bert(), "bert", "BertTokenizer", {"added_tokens_decoder": {
        **listed(bert()), **added("<new>", NEXT, special=False, normalized=True)}}, {}),
    "bert-general-decoder": (bert(), "bert", "PreTrainedTokenizerFast", {"added_tokens_decoder": {
        **listed(bert(), **{"[MASK]": {"lstrip": True}}), **added("<new>", NEXT)}}, {}),
    "bert-added-file": (bert(), "bert", "BertTokenizer", NAMES, {"added_tokens.json": {"<new>": NEXT, "<other>": NEXT + 1}}),
    "bert-added-file-general": (bert(), "bert", "PreTrainedTokenizerFast", NAMES, {"added_tokens.json": {"<new>": NEXT}}),
    "bert-added-file-and-decoder": (bert(), "bert", "BertTokenizer", {"added_tokens_decoder": listed(bert())},
                                    {"added_tokens.json": {"<new>": NEXT}}),
    "bert-map": (bert(), "bert", "BertTokenizer", {}, {"special_tokens_map.json": {"additional_special_tokens": ["[EXTRA]", "<new>"]}}),
    "bert-map-flags": (bert(added=BERT[:4]), "bert", "BertTokenizer", {"mask_token": "[MASK]"}, {"special_tokens_map.json": {
        "mask_token": {"content": "[MASK]", "lstrip": True, "rstrip": False, "normalized": False, "single_word": False}}}),
    "bert-additional": (bert(), "bert", "BertTokenizer", {"additional_special_tokens": ["[EXTRA]"]}, {}),
    "bert-extra": (bert(), "bert", "PreTrainedTokenizerFast", {"extra_special_tokens": {"x_token": "<other>"}}, {}),
    "bert-other-frame": (bert(), "bert", "BertTokenizer", {"cls_token": "[PAD]", "sep_token": "[MASK]"}, {}),
    "bert-general-new-names": (bert(), "bert", "PreTrainedTokenizerFast", {
        "pad_token": "<other>", "mask_token": "<new>", "bos_token": "[EXTRA]", "extra_special_tokens": {"a_token": "<m>"}}, {}),
    "bert-frame-of-file": (framed(bert(), "[PAD]", "[SEP]"), "bert", "BertTokenizer", {}, {}),
    "bert-split-specials": (bert(), "bert", "BertTokenizer", {"split_special_tokens": True}, {}),
    "bert-add-bos": (bert(), "bert", "BertTokenizer", {"add_bos_token": False}, {}),
    "bert-unknown": (bert(), "bert", "BertTokenizer", {"unk_token": "[PAD]"}, {}),
    "bert-words": (bert(), "bert", "BertTokenizer", {}, {"pre_tokenizer": {"type": "Whitespace"}}),
    "bert-long-words": (bert(), "bert", "BertTokenizer", {}, {"model": {"max_input_chars_per_word": 4}}),
    "roberta": (roberta(), "roberta", "RobertaTokenizer", R_NAMES, {}),
    "roberta-prefix": (roberta(), "roberta", "RobertaTokenizerFast", {"add_prefix_space": True}, {}),
    "roberta-no-prefix": (roberta(True), "roberta", "RobertaTokenizerFast", {"add_prefix_space": False}, {}),
    "roberta-prefix-of-file": (roberta(True), "roberta", "RobertaTokenizerFast", {}, {}),
    "roberta-mask-plain": (roberta(mask={}), "roberta", "RobertaTokenizer", {
        "added_tokens_decoder": listed(roberta(mask={}), **{"<mask>": {"lstrip": True}})}, {}),
    "roberta-mask-not-added": (roberta(mask=None), "roberta", "RobertaTokenizer", R_NAMES, {}),
    "roberta-map-mask": (roberta(mask={}), "roberta", "RobertaTokenizer", {}, {"special_tokens_map.json": {"mask_token": {
        "content": "<mask>", "lstrip": True, "rstrip": False, "normalized": False, "single_word": False}}}),
    "roberta-other-frame": (roberta(), "roberta", "RobertaTokenizer", {"cls_token": "<pad>"}, {}),
    "bart-other-frame": (roberta(), "bart", "BartTokenizer", {"cls_token": "<pad>"}, {}),
    "xlmr": (xlmr(), "xlm-roberta", "XLMRobertaTokenizer", R_NAMES, {}),
    "xlmr-no-prefix": (xlmr(), "xlm-roberta", "XLMRobertaTokenizerFast", {"add_prefix_space": False}, {}),
    "xlmr-prefix-of-file": (xlmr(False), "xlm-roberta", "XLMRobertaTokenizerFast", {}, {}),
    "camembert": (xlmr(), "camembert", "CamembertTokenizer", {"add_prefix_space": False}, {}),
    "camembert-lower-file": (xlmr(), "camembert", "CamembertTokenizerFast", {}, {"normalizer": {"type": "Lowercase"}}),
    "albert": (albert(), "albert", "AlbertTokenizer", {}, {}),
    "albert-cased": (albert(), "albert", "AlbertTokenizerFast", {"do_lower_case": False}, {}),
    "albert-accents": (albert(), "albert", "AlbertTokenizer", {"keep_accents": True}, {}),
    "albert-accents-of-file": (albert(accents=True), "albert", "AlbertTokenizer", {}, {}),
    "albert-cased-file": (albert(False), "albert", None, {}, {}),
    "deberta": (deberta(), "deberta-v2", "DebertaV2Tokenizer", NAMES, {}),
    "deberta-lower": (deberta(), "deberta-v2", "DebertaV2Tokenizer", {"do_lower_case": True}, {}),
    "deberta-lower-file": (deberta(True), "deberta-v2", "DebertaV2TokenizerFast", {}, {}),
    "deberta-marks": (deberta(), "deberta-v2", "DebertaV2Tokenizer", {"split_by_punct": True}, {}),
    "deberta-first": (deberta(), "deberta-v2", "DebertaV2Tokenizer", {"add_prefix_space": False}, {}),
    "gpt2": (gpt2(), "gpt2", "GPT2Tokenizer", END, {}),
    "gpt2-prefix": (gpt2(), "gpt2", "GPT2TokenizerFast", {"add_prefix_space": True}, {}),
    "gpt2-prefix-of-file": (gpt2(True), "gpt2", "GPT2Tokenizer", {}, {}),
    "gpt2-bos": (gpt2(), "gpt2", "GPT2Tokenizer", {**END, "add_bos_token": True}, {}),
    "gpt2-lower-file": (gpt2(), "gpt2", "GPT2Tokenizer", {}, {"normalizer": {"type": "Lowercase"}}),
    "gpt2-pad": (gpt2(), "gpt2", "GPT2Tokenizer", {"pad_token": "<other>"}, {}),
    "gpt2-new-names": (gpt2(), "gpt2", "GPT2Tokenizer", {"pad_token": "<other>", "mask_token": "<new>", "cls_token": "[EXTRA]",
                                                         "image_token": "<im>", "additional_special_tokens": ["<m>"]}, {}),
    "neox": (neox(), "gpt_neox", "GPTNeoXTokenizer", {}, {}),
    "neox-prefix": (neox(), "gpt_neox", "GPTNeoXTokenizerFast", {"add_prefix_space": True}, {}),
    "neox-plain-file": (gpt2(), "gpt_neox", "GPTNeoXTokenizerFast", {}, {}),
    "neox-frame": (framed(neox(), "<|endoftext|>", "<|padding|>"), "gpt_neox", "GPTNeoXTokenizer", {}, {}),
    "qwen": (qwen(), "qwen2", "Qwen2Tokenizer", {}, {}),
    "qwen-wrong-class": (qwen(), "qwen2", "LlamaTokenizerFast", {"add_prefix_space": True}, {}),
    "qwen-file": (qwen(None), "qwen2", "Qwen2Tokenizer", {}, {}),
    "qwen3-prefix": (qwen(), "qwen3", None, {"add_prefix_space": True}, {}),
    "llama": (llama(), "llama", "LlamaTokenizer", {}, {}),
    "llama-old": (llama(old=True), "llama", "LlamaTokenizer", {}, {}),
    "llama-old-legacy": (llama(old=True), "llama", "LlamaTokenizerFast", {"legacy": True}, {}),
    "llama-no-prefix": (llama(), "llama", "LlamaTokenizerFast", {"add_prefix_space": False}, {}),
    "llama-no-bos": (llama(), "llama", "LlamaTokenizerFast", {"add_bos_token": False}, {}),
    "llama-eos": (llama(), "llama", "LlamaTokenizerFast", {"add_eos_token": True}, {}),
    "llama-general": (llama(), "llama", None, {"add_prefix_space": False}, {}),
    "llama-bytes": (gpt2(), "llama", "LlamaTokenizer", {"add_prefix_space": True}, {}),
    "mistral": (llama(old=True), "mistral", "LlamaTokenizer", {"add_prefix_space": False, "legacy": False}, {}),
    "phi3": (llama(old=True), "phi3", "LlamaTokenizer", {"legacy": False}, {}),
    "gemma": (gemma(), "gemma", "GemmaTokenizer", {}, {}),
    "gemma-file": (gemma(False), "gemma2", "GemmaTokenizerFast", {}, {}),
    "other-class": (bert(), "bert", "FunnelTokenizer", {}, {}),
    "made-up-class": (bert(False), "bert", "MyTokenizer", {"do_lower_case": True}, {}),
    "class-in-config": (bert(False), "bert", None, {"do_lower_case": True}, {"config.json": {"tokenizer_class": "BertTokenizer"}}),
}
# Folders as transformers writes them: not a word about them.
HEALTHY = ["bert", "roberta", "xlmr", "albert", "deberta", "gpt2", "neox", "qwen", "llama", "gemma"]


def write_folder(case, folder):
    made, model_type, kind, settings, others = CASES[case]
    document = json.loads(made.to_str())
    config = {"model_type": model_type}
    for name, value in others.items():
        if name == "config.json":
            config.update(value)
        elif name.endswith(".json"):
            (folder / name).write_text(json.dumps(value))
        elif name == "model":
            document["model"].update(value)
        else:
            document[name] = value
    (folder / "tokenizer.json").write_text(json.dumps(document))
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer_config.json").write_text(json.dumps({**({"tokenizer_class": kind} if kind else {}), **settings}))


def run_tokenize(folder, texts):
    lines = "".join(json.dumps(text) + "\n" for text in texts)
    return subprocess.run([PROGRAM, "tokenize", "--model", folder, "--json-lines"], input=lines, capture_output=True, text=True)


def keys_of(case):
    """What a complaint about this case may name: the settings, or the class and its own."""
    made, model_type, kind, settings, others = CASES[case]
    usual = ["do_lower_case", "strip_accents", "tokenize_chinese_chars", "add_prefix_space", "keep_accents", "mask_token",
             "tokenizer_class", "cls_token", "legacy"]
    return [*settings, *(key for key in others if key.endswith(".json"))] or usual


@pytest.mark.parametrize("case", CASES)
def test_ids_of_auto_tokenizer_or_a_word_about_the_key(case, tmp_path):
    write_folder(case, tmp_path)
    theirs = AutoTokenizer.from_pretrained(tmp_path)
    mask = theirs.mask_token or "<mask>"
    texts = [text.replace("{m}", mask) for text in TEXTS]
    done = run_tokenize(tmp_path, texts)
    if case in HEALTHY:
        assert (done.returncode, done.stderr) == (0, "")
    if done.returncode == 0:
        ours = [json.loads(line)["ids"] for line in done.stdout.splitlines()]
        wanted = [theirs(text)["input_ids"] for text in texts]
        different = [(t, o, w) for t, o, w in zip(texts, ours, wanted) if o != w]
        if not different:
            return
    else:
        assert done.returncode == 2
        different = done.stderr
    assert any(key in done.stderr for key in keys_of(case)), (different, done.stderr)
