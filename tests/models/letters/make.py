"""Writes the tokenizer of the smoke job: WordPiece over single letters and a few words. No weights, no randomness."""

import json
import pathlib
import string

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = "the a an are is be people person who that said and of to in with women men woman man warm cold Black".split()


def main() -> None:
    letters = string.ascii_letters + string.digits
    vocabulary = SPECIALS + list(string.punctuation) + list(letters) + ["##" + c for c in letters]
    vocabulary += [word for word in WORDS if word not in vocabulary] + ["##ful", "##less"]
    ids = {token: index for index, token in enumerate(vocabulary)}
    special = {"lstrip": False, "normalized": False, "rstrip": False, "single_word": False, "special": True}

    def piece(token: str) -> dict:
        return {"SpecialToken": {"id": token, "type_id": 0}}

    tokenizer = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": ids[token], "content": token, **special} for token in SPECIALS],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": False,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [piece("[CLS]"), {"Sequence": {"id": "A", "type_id": 0}}, piece("[SEP]")],
            "pair": [
                piece("[CLS]"),
                {"Sequence": {"id": "A", "type_id": 0}},
                piece("[SEP]"),
                {"Sequence": {"id": "B", "type_id": 1}},
                {"SpecialToken": {"id": "[SEP]", "type_id": 1}},
            ],
            "special_tokens": {
                token: {"id": token, "ids": [ids[token]], "tokens": [token]} for token in ("[CLS]", "[SEP]")
            },
        },
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": ids,
        },
    }
    config = {
        "architectures": ["BertForMaskedLM"],
        "model_type": "bert",
        "vocab_size": len(vocabulary),
        "hidden_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 1,
        "intermediate_size": 16,
        "max_position_embeddings": 128,
        "type_vocab_size": 2,
        "hidden_act": "gelu",
        "layer_norm_eps": 1e-12,
        "pad_token_id": 0,
    }
    tokenizer_config = {
        "tokenizer_class": "BertTokenizer",
        "do_lower_case": False,
        "mask_token": "[MASK]",
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
        "pad_token": "[PAD]",
        "unk_token": "[UNK]",
        "model_max_length": 128,
    }
    folder = pathlib.Path(__file__).parent
    for name, content in (
        ("tokenizer.json", tokenizer),
        ("config.json", config),
        ("tokenizer_config.json", tokenizer_config),
    ):
        (folder / name).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
