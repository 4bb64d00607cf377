"""Tiny masked models with widened weights, so that logits spread and mistakes show. Written as Hugging Face folders."""
import json
import random
import string

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import BertConfig, BertForMaskedLM, RobertaConfig, RobertaForMaskedLM

WORDS = ("the nurse doctor teacher farmer people person are is was kind cold warm clever rich poor old young tall strong "
         "weak friendly said that most some all think every morning town river house late never often quietly").split()


def random_text(rng, words, masks, mask_token):
    """Words from the list and a few made-up ones, with masks at random places."""
    parts = [rng.choice(WORDS) if rng.random() < 0.8 else "".join(rng.choices(string.ascii_lowercase, k=rng.randint(1, 7)))
             for _ in range(words)]
    for _ in range(masks):
        parts.insert(rng.randint(0, len(parts)), mask_token)
    return " ".join(parts) + rng.choice(["", ".", " !", ", so"])


def widen(model, seed):
    """Weights of unit gain or more, non-trivial biases and norms."""
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator)
        if "LayerNorm.weight" in name or "layer_norm.weight" in name:
            parameter.data = 1 + 0.2 * noise
        elif parameter.dim() == 1:
            parameter.data = 0.3 * noise
        elif "embeddings" in name:
            parameter.data = 4 * noise / parameter.shape[1] ** 0.5
        else:
            parameter.data = 1.2 * noise / parameter.shape[1] ** 0.5
    return model.eval()


def make_bert(folder, spare_rows=0, positions=64):
    """BERT with a WordPiece vocabulary; `spare_rows` rows of the logits have no token."""
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *string.ascii_lowercase, *string.punctuation,
              *("##" + letter for letter in string.ascii_lowercase), "##ly", "##er", "##ing"]
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])])
    config = BertConfig(vocab_size=len(vocabulary) + spare_rows, hidden_size=48, num_hidden_layers=3,
                        num_attention_heads=4, intermediate_size=96, max_position_embeddings=positions)
    return save(folder, tokenizer, widen(BertForMaskedLM(config), 1), "BertTokenizer",
                {"mask_token": "[MASK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]",
                 "unk_token": "[UNK]"})


def make_roberta(folder, positions=66):
    """RoBERTa with a byte-level BPE vocabulary trained on made-up sentences; two positions are its offset."""
    rng = random.Random(5)
    specials = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=specials, show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator([random_text(rng, 12, 0, "") for _ in range(300)], trainer)
    from tokenizers import AddedToken
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True, normalized=False)])
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    config = RobertaConfig(vocab_size=tokenizer.get_vocab_size(), hidden_size=64, num_hidden_layers=2,
                           num_attention_heads=4, intermediate_size=128, max_position_embeddings=positions,
                           type_vocab_size=1, pad_token_id=1, bos_token_id=0, eos_token_id=2)
    return save(folder, tokenizer, widen(RobertaForMaskedLM(config), 2), "RobertaTokenizer",
                {"mask_token": "<mask>", "cls_token": "<s>", "sep_token": "</s>", "pad_token": "<pad>",
                 "unk_token": "<unk>"})


def save(folder, tokenizer, model, kind, names):
    """Writes the folder; returns what a reference needs."""
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": kind, **names}))
    return Reference(folder, tokenizer, model, names["mask_token"])


class Reference:
    """The same questions answered by transformers, one text a forward."""

    def __init__(self, folder, tokenizer, model, mask_token):
        self.folder, self.tokenizer, self.model, self.mask_token = folder, tokenizer, model, mask_token
        self.mask_id = tokenizer.token_to_id(mask_token)
        self.width = model.config.vocab_size
        offset = 2 if model.config.model_type == "roberta" else 0
        self.max_tokens = model.config.max_position_embeddings - offset

    def length(self, text):
        """Tokens, special ones included."""
        return len(self.tokenizer.encode(text).ids)

    def masks(self, text):
        """Mask tokens in the text."""
        return self.tokenizer.encode(text).ids.count(self.mask_id)

    @torch.inference_mode()
    def fill(self, text, ids):
        """Log-probabilities at the masks, float64 softmax of the float32 logits."""
        tokens = self.tokenizer.encode(text).ids
        logs = self.model(torch.tensor([tokens])).logits[0].double().log_softmax(-1)
        places = [place for place, token in enumerate(tokens) if token == self.mask_id]
        return [[logs[place, token].item() for token in wanted] for place, wanted in zip(places, ids)]

    @torch.inference_mode()
    def embed(self, text, span, layer, pool):
        """The pooled hidden state; spans count bytes, the tokenizer counts characters."""
        encoding = self.tokenizer.encode(text)
        to_bytes = [len(text[:place].encode()) for place in range(len(text) + 1)]
        hit = [i for i, (start, end) in enumerate(encoding.offsets)
               if start < end and to_bytes[start] < span[1] and to_bytes[end] > span[0]]
        states = self.model(torch.tensor([encoding.ids]), output_hidden_states=True).hidden_states[layer][0][hit].double()
        return {"mean": states.mean(0), "first": states[0], "last": states[-1]}[pool].tolist()
