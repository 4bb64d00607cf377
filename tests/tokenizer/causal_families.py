"""Tokenizers with the components of causal families, laid out as their published tokenizer.json files have them.

The vocabularies are trained here; only the layout (components, their settings, kinds of added tokens) is the family's.
"""
import json

from tokenizers import AddedToken, Regex, Tokenizer, decoders, normalizers, pre_tokenizers, processors
from wheel_training import byte_level, sentence_piece

N, P = normalizers, pre_tokenizers
CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
TAIL = r"\s*[\r\n]+|\s+(?!\S)|\s+"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"


def words(number, contraction=CONTRACTION):
    """The expression of GPT-4, LLaMA-3 and Qwen, which differ in how many digits stay together."""
    return contraction + rf"|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|{number}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|" + TAIL


TEKKEN = (rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*|\p{{N}}"
          r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|" + TAIL)
O200K = (rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{CONTRACTION}?|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{CONTRACTION}?"
         r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|" + TAIL)
DEEPSEEK3 = (r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
             r"| ?[\p{P}\p{S}]+[\r\n]*|" + TAIL)


def special(*texts, **flags):
    return [AddedToken(text, special=True, normalized=False, **flags) for text in texts]


def isolated(expression, *others):
    """Split by expressions in turn, then bytes."""
    steps = [P.Split(Regex(e), "isolated") for e in (expression, *others)]
    return P.Sequence([*steps, P.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False)])


def begins_with(token, tokenizer, *before):
    template = processors.TemplateProcessing(f"{token} $A", f"{token} $A {token}:1 $B:1",
                                             [(token, tokenizer.token_to_id(token))])
    tokenizer.post_processor = processors.Sequence([*before, template]) if before else template
    return tokenizer


def neox():
    tokenizer = byte_level(special("<|endoftext|>", "<|padding|>"), normalizer=N.NFC())
    tokenizer.add_tokens([AddedToken(" " * n, normalized=True) for n in range(24, 1, -1)])
    tokenizer.post_processor = processors.ByteLevel(add_prefix_space=False, trim_offsets=True)
    return tokenizer


def falcon():
    pre = P.Sequence([P.Punctuation("contiguous"), P.ByteLevel(add_prefix_space=False),
                      P.Digits(individual_digits=False), P.Split(Regex("[0-9][0-9][0-9]"), "isolated")])
    return byte_level(special(">>TITLE<<", ">>ABSTRACT<<", ">>INTRODUCTION<<", "<|endoftext|>"), pre=pre)


def llama3():
    tokenizer = byte_level([], pre=isolated(words(r"\p{N}{1,3}")), ignore_merges=True)
    tokenizer.add_special_tokens(special("<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|eot_id|>",
                                         *(f"<|reserved_special_token_{n}|>" for n in range(24))))
    return begins_with("<|begin_of_text|>", tokenizer, processors.ByteLevel(add_prefix_space=True, trim_offsets=False))


def llama_decoder(strips=True):
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    return decoders.Sequence(steps + ([decoders.Strip(" ", 1, 0)] if strips else []))


def llama2():
    tokenizer = sentence_piece(["<unk>", "<s>", "</s>"])
    tokenizer.normalizer = N.Sequence([N.Prepend("▁"), N.Replace(" ", "▁")])
    tokenizer.decoder = llama_decoder()
    return begins_with("<s>", tokenizer)


def mistral():
    tokenizer = sentence_piece(["<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[TOOL_CALLS]"])
    tokenizer.pre_tokenizer = P.Metaspace(replacement="▁", prepend_scheme="first", split=False)
    tokenizer.decoder = llama_decoder()
    return begins_with("<s>", tokenizer)


def mixtral():
    tokenizer = llama2()
    document = json.loads(tokenizer.to_str())
    document["added_tokens"] = [{**t, "normalized": True} for t in document["added_tokens"]]  # as the first files
    return Tokenizer.from_str(json.dumps(document))


def phi3():
    tokenizer = llama2()
    tokenizer.add_special_tokens(special("<|endoftext|>"))
    tokenizer.add_special_tokens(special("<|assistant|>", "<|step|>", "<|end|>", "<|user|>", rstrip=True))
    tokenizer.add_tokens([AddedToken("</s>", rstrip=True, normalized=False, special=False)])
    return tokenizer


def gemma():
    tokenizer = sentence_piece(["<pad>", "<eos>", "<bos>", "<unk>", "<mask>"])
    tokenizer.normalizer = N.Replace(" ", "▁")
    tokenizer.pre_tokenizer = P.Split(" ", "merged_with_previous")
    tokenizer.decoder = llama_decoder(strips=False)
    tokenizer.add_tokens([AddedToken(t, normalized=False) for t in
                          [*("\n" * n for n in range(2, 32)), *("▁" * n for n in range(2, 32)), "<table>", "</table>"]])
    tokenizer.add_special_tokens(special("<start_of_turn>", "<end_of_turn>"))
    return begins_with("<bos>", tokenizer)


def qwen():
    tokenizer = byte_level([], pre=isolated(words(r"\p{N}")), normalizer=N.NFC())
    tokenizer.add_special_tokens(special("<|endoftext|>", "<|im_start|>", "<|im_end|>"))
    tokenizer.add_tokens([AddedToken(t, normalized=False) for t in ("<think>", "</think>", "<tool_call>")])
    tokenizer.post_processor = processors.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False)
    return tokenizer


def olmo2():
    pre = P.Sequence([P.Split(Regex(words(r"\p{N}{1,3}")), "removed", invert=True),
                      P.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer = byte_level([], pre=pre)
    tokenizer.add_special_tokens(special("<|endoftext|>", "<|fim_prefix|>", "<|pad|>"))
    tokenizer.add_tokens([AddedToken("|||IP_ADDRESS|||", normalized=False)])
    return tokenizer


def opt():
    tokenizer = byte_level(special("<s>", "<pad>", "</s>", "<unk>"))
    return begins_with("</s>", tokenizer)


def gptj():
    tokenizer = byte_level([AddedToken("<|endoftext|>", normalized=True, special=True)])
    tokenizer.add_tokens([AddedToken(f"<|extratoken_{n}|>", normalized=True) for n in range(1, 5)])
    tokenizer.post_processor = processors.ByteLevel(add_prefix_space=True, trim_offsets=False)
    return tokenizer


def codegen():
    tokenizer = byte_level(special("<|endoftext|>"))
    runs = [" " * n for n in range(31, 1, -1)] + ["\t" * n for n in range(9, 1, -1)]
    tokenizer.add_tokens([AddedToken(run, normalized=True) for run in runs])
    tokenizer.post_processor = processors.ByteLevel(add_prefix_space=False, trim_offsets=True)
    return tokenizer


def starcoder2():
    pre = P.Sequence([P.Digits(individual_digits=True), P.ByteLevel(add_prefix_space=False)])
    tokenizer = byte_level(special("<|endoftext|>", "<fim_prefix>", "<repo_name>"), pre=pre)
    tokenizer.post_processor = processors.ByteLevel(add_prefix_space=True, trim_offsets=False)
    return tokenizer


def tekken(expression=TEKKEN):
    tokenizer = byte_level(special("<unk>", "<s>", "</s>", "[INST]", "[/INST]"), pre=isolated(expression),
                           ignore_merges=True)
    return begins_with("<s>", tokenizer)


def deepseek():
    letters = r"\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕ]+"
    splits = [r"[\r\n]", letters, r"\s?[!-/:-~！-／：-～‘-‟　-。]+", r"\s+$", "[一-龥ࠀ-一가-퟿]+"]
    pre = P.Sequence([*(P.Split(Regex(e), "isolated") for e in splits), P.Digits(individual_digits=True),
                      P.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer = byte_level([], pre=pre)
    tokenizer.add_special_tokens(special("<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>"))
    return begins_with("<｜begin▁of▁sentence｜>", tokenizer)


def deepseek3():
    tokenizer = byte_level([], pre=isolated(r"\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+", DEEPSEEK3))
    tokenizer.add_special_tokens(special("<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>"))
    tokenizer.add_tokens([AddedToken("<｜User｜>", normalized=False)])
    return begins_with("<｜begin▁of▁sentence｜>", tokenizer)


CAUSAL = {"neox": neox, "falcon": falcon, "llama3": llama3, "llama2": llama2, "mistral": mistral, "mixtral": mixtral,
          "phi3": phi3, "gemma": gemma, "qwen": qwen, "olmo2": olmo2, "opt": opt, "gptj": gptj, "codegen": codegen,
          "starcoder2": starcoder2, "tekken": tekken, "o200k": lambda: tekken(O200K), "deepseek": deepseek,
          "deepseek3": deepseek3}
