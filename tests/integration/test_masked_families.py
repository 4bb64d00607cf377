"""DistilBERT, ALBERT, ELECTRA, EuroBERT, ModernBERT and DeBERTa-v3 against transformers: hidden states, log-probabilities, whole queries.

Random weights whose logits spread. Sequences of mixed lengths, longer than every window, are one packed batch for us
and one forward each for transformers; rows that are read alone must be those of the whole.
"""
import json
import random

import numpy
import pytest
import torch
import transformers
from safetensors.torch import save_file
from test_model_names import program
from test_model_transformers import ids_of, ours, spread
from test_query_transformers import query
from tiny_models import random_text
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

LENGTHS = [7, 12, 12, 1, 30, 9, 2, 40]
SHAPE = dict(vocab_size=301, hidden_size=48, num_hidden_layers=3, num_attention_heads=3, intermediate_size=80,
             max_position_embeddings=40, pad_token_id=1)
DISTILBERT = dict(vocab_size=301, dim=48, n_layers=3, n_heads=3, hidden_dim=80, max_position_embeddings=40, pad_token_id=1)
ALBERT = SHAPE | dict(embedding_size=32, layer_norm_eps=1e-6)
MODERNBERT = SHAPE | dict(num_hidden_layers=4, local_attention=8, bos_token_id=2, cls_token_id=2, eos_token_id=3,
                          sep_token_id=3)
ELECTRA = SHAPE | dict(embedding_size=32, layer_norm_eps=1e-6)
EUROBERT = SHAPE | dict(bos_token_id=2, eos_token_id=3, mask_token_id=4, rope_parameters=dict(
    rope_type="default", rope_theta=250.0))
DEBERTA = SHAPE | dict(relative_attention=True, position_buckets=8, norm_rel_ebd="layer_norm", share_att_key=True,
                       pos_att_type="p2c|c2p", position_biased_input=False, layer_norm_eps=1e-6)
KINDS = {"distilbert": (transformers.DistilBertConfig, transformers.DistilBertForMaskedLM),
         "albert": (transformers.AlbertConfig, transformers.AlbertForMaskedLM),
         "modernbert": (transformers.ModernBertConfig, transformers.ModernBertForMaskedLM),
         "deberta-v2": (transformers.DebertaV2Config, transformers.DebertaV2ForMaskedLM),
         "electra": (transformers.ElectraConfig, transformers.ElectraForMaskedLM),
         "eurobert": (transformers.EuroBertConfig, transformers.EuroBertForMaskedLM)}
VARIANTS = {
    "distilbert": ("distilbert", DISTILBERT),
    "distilbert untied, relu": ("distilbert", DISTILBERT | dict(tie_word_embeddings=False, activation="relu")),
    "albert": ("albert", ALBERT),
    "albert groups": ("albert", ALBERT | dict(num_hidden_layers=5, num_hidden_groups=2, hidden_act="gelu")),
    "albert inner groups": ("albert", ALBERT | dict(num_hidden_layers=2, inner_group_num=2, tie_word_embeddings=False)),
    "modernbert": ("modernbert", MODERNBERT),
    "modernbert biases": ("modernbert", MODERNBERT | dict(
        norm_bias=True, attention_bias=True, mlp_bias=True, classifier_bias=True, decoder_bias=False,
        classifier_activation="relu")),
    "modernbert layers": ("modernbert", MODERNBERT | dict(
        layer_types=["sliding_attention", "full_attention", "sliding_attention", "full_attention"],
        rope_parameters={"full_attention": {"rope_type": "default", "rope_theta": 500.0},
                         "sliding_attention": {"rope_type": "default", "rope_theta": 50.0}})),
    "electra": ("electra", ELECTRA),
    "electra as wide as its words": ("electra", ELECTRA | dict(embedding_size=48, hidden_act="relu", tie_word_embeddings=False)),
    "eurobert": ("eurobert", EUROBERT),
    "eurobert grouped keys, biases, tied": ("eurobert", EUROBERT | dict(
        num_key_value_heads=1, attention_bias=True, mlp_bias=True, tie_word_embeddings=True, hidden_act="gelu")),
    "eurobert yarn, two keys, tied": ("eurobert", EUROBERT | dict(
        num_attention_heads=4, num_key_value_heads=2, tie_word_embeddings=True, rope_parameters=dict(
            rope_type="yarn", rope_theta=250.0, factor=4.0, original_max_position_embeddings=10))),
    "deberta": ("deberta-v2", DEBERTA),
    "deberta own head": ("deberta-v2", DEBERTA | dict(legacy=False)),
    "deberta own projections": ("deberta-v2", DEBERTA | dict(share_att_key=False, pos_att_type=["c2p"], type_vocab_size=2,
                                                             position_biased_input=True)),
    "deberta plain distances": ("deberta-v2", DEBERTA | dict(position_buckets=-1, max_relative_positions=6,
                                                             norm_rel_ebd="none", pos_att_type="p2c")),
}


def tiny(variant, deviation=0.25, **settings):
    kind, own = VARIANTS[variant]
    config_type, model_type = KINDS[kind]
    return spread(model_type(config_type(**(own | settings))), deviation)


@torch.inference_mode()
def theirs(model, sequences):
    """Hidden states [layer, token, hidden] and log-probabilities [token, vocabulary]; one sequence a forward."""
    answers = [model(torch.tensor([ids]), output_hidden_states=True) for ids in sequences]
    states = [torch.cat([answer.hidden_states[i][0] for answer in answers]) for i in range(len(answers[0].hidden_states))]
    logits = torch.cat([answer.logits[0].float() for answer in answers])
    return torch.stack(states).float().numpy(), logits.log_softmax(-1).numpy()


def compare(model, directory, sequences):
    """1e-5 relative for hidden states, 1e-4 nat for log-probabilities, as for BERT and RoBERTa."""
    expected_states, expected = theirs(model, sequences)
    layers = len(expected_states) - 1
    states, logprobs = ours(directory, sequences, layers, expected_states.shape[2], model.config.vocab_size)
    assert expected.std() > 1, "a flat distribution would hide errors"
    for layer, (mine, other) in enumerate(zip(states, expected_states, strict=True)):
        assert numpy.abs(mine - other).max() <= 1e-5 * numpy.abs(other).max(), f"hidden state {layer}"
    assert numpy.abs(logprobs - expected).max() <= 1e-4


@pytest.mark.parametrize("variant", VARIANTS)
def test_hidden_states_and_log_probabilities(variant, tmp_path):
    model = tiny(variant)
    model.save_pretrained(tmp_path)
    compare(model, tmp_path, ids_of(301, LENGTHS))


@pytest.mark.parametrize("variant", ["distilbert", "albert", "electra", "eurobert", "modernbert", "deberta"])
def test_operators_and_old_configurations(variant, tmp_path, monkeypatch):
    """What CUDA takes; and the spelling of hub configurations that transformers rewrites."""
    monkeypatch.setenv("STEREOSWEEP_KERNELS", "operators")
    model = tiny(variant)
    model.save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    if variant == "modernbert":
        for key in ("layer_types", "rope_parameters"):
            config.pop(key, None)
        config |= dict(global_attn_every_n_layers=3, global_rope_theta=160000.0, local_rope_theta=10000.0)
    if variant == "deberta":
        config |= dict(pos_att_type="p2c|c2p", max_relative_positions=-1)
    (tmp_path / "config.json").write_text(json.dumps(config))
    compare(model, tmp_path, ids_of(301, LENGTHS))


@pytest.mark.parametrize("variant", ["albert", "eurobert", "modernbert", "deberta"])
def test_bfloat16_is_as_near_as_theirs(variant, tmp_path):
    """Our 16 bits may be no further from float32 than transformers' own, with a third to spare.

    Four models, since the ratio of one spreads by an eighth, and by more on some processors.
    """
    sequences = ids_of(301, LENGTHS)
    errors, their_errors = [], []
    for seed in range(4):
        model = spread(tiny(variant), 0.25, seed)
        model.save_pretrained(tmp_path / str(seed))
        states, expected = theirs(model, sequences)
        _, mine = ours(tmp_path / str(seed), sequences, len(states) - 1, states.shape[2], 301, "bfloat16")
        _, other = theirs(model.to(torch.bfloat16), sequences)
        errors.append(numpy.abs(mine - expected).mean())
        their_errors.append(numpy.abs(other - expected).mean())
    assert 0 < sum(errors) < 1.33 * sum(their_errors), (errors, their_errors)


def test_a_published_deberta_holds_a_head_that_transformers_leaves_out(tmp_path):
    """`legacy` is on by default, and microsoft's files hold lm_predictions and mask_predictions."""
    model = tiny("deberta own head")
    tensors = {name: tensor.contiguous().clone() for name, tensor in model.state_dict().items()}
    tensors["mask_predictions.dense.weight"] = torch.zeros(48, 48)
    tensors["deberta.embeddings.position_embeddings.weight"] = torch.zeros(40, 48)
    save_file(tensors, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(json.dumps(model.config.to_dict() | {"legacy": True}))
    compare(model, tmp_path, ids_of(301, LENGTHS))


def word_piece(texts):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=250, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    return trained(tokenizer, trainer, texts)


def byte_pairs(texts):
    """ModernBERT's: NFC, GPT-2's words."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"],
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    return trained(tokenizer, trainer, texts)


def albert_pieces(texts):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([
        normalizers.Replace("``", '"'), normalizers.Replace("''", '"'), normalizers.NFKD(), normalizers.StripAccents(),
        normalizers.Lowercase(), normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(),
                                                       pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")])
    return trained(tokenizer, unigram_trainer(), texts)


def deberta_pieces(texts):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.Strip(), normalizers.NFKC(),
                                                 normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    return trained(tokenizer, unigram_trainer(), texts)


def unigram_trainer():
    return trainers.UnigramTrainer(vocab_size=200, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"],
                                   unk_token="[UNK]")


def trained(tokenizer, trainer, texts):
    trainer.show_progress = False
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")])
    return tokenizer


@pytest.mark.parametrize("variant, make", [("distilbert", word_piece), ("albert", albert_pieces),
                                           ("modernbert", byte_pairs), ("deberta", deberta_pieces)])
def test_queries_with_the_family_s_kind_of_tokenizer(variant, make, tmp_path):
    rng = random.Random(5)
    tokenizer = make([random_text(rng, 12, 0, "") for _ in range(300)])
    size = tokenizer.get_vocab_size()
    model = tiny(variant, vocab_size=size, max_position_embeddings=120, pad_token_id=0)
    model.save_pretrained(tmp_path)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"mask_token": "[MASK]", "cls_token": "[CLS]",
                                                                "sep_token": "[SEP]", "pad_token": "[PAD]"}))
    mask, lines, expected = tokenizer.token_to_id("[MASK]"), [], []
    for number in range(30):
        text = random_text(rng, rng.randint(2, 12), 1 + number % 2, "[MASK]").replace("kind", rng.choice(["kïnd", "  kind"]))
        tokens = tokenizer.encode(text).ids
        with torch.inference_mode():
            logs = model(torch.tensor([tokens])).logits[0].double().log_softmax(-1)
        wanted = [[rng.randrange(size) for _ in range(3)] for _ in range(tokens.count(mask))]
        lines.append({"kind": "fill", "text": text, "ids": wanted})
        places = [place for place, token in enumerate(tokens) if token == mask]
        expected.append([[logs[place, token].item() for token in ids] for place, ids in zip(places, wanted)])
    said = program("models", tmp_path, cache=tmp_path / "no cache")  # from the headers of the weights alone
    assert "  fits      association, contexts\n" in said and "problem" not in said
    answers, status = query(tmp_path, lines)
    assert status == 0
    for answer, truth in zip(answers, expected, strict=True):
        assert numpy.abs(numpy.array(answer["logprob"]) - numpy.array(truth)).max() <= 1e-4
