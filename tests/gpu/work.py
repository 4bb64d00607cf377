"""What the checklist measures: checkpoints of real shapes with drawn weights, and items of every kind, made on the spot."""
import json
import random
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SPREAD = 0.04
ADJECTIVES = ("old young tall quiet loud rich poor tired busy lucky famous foreign local former careful careless strong weak "
              "clever honest brave shy proud lazy happy").split()
NOUNS = ("nurse teacher farmer doctor driver baker lawyer painter sailor singer dancer writer cook guard pilot judge clerk "
         "actor tailor miner barber waiter porter plumber student").split()
PLACES = ("town village river station market harbour school office garden kitchen library hospital theatre bridge").split()
TRAITS = "kind cold warm rude calm mean smart dull fair weak bold slow neat vain wise mild".split()
TEMPLATES = ("the {} at the {} is often {} .", "people near the {1} say that the {0} is {2} .", "every {} in the {} seems {} .",
             "at the {1} , nobody thinks that the {0} is {2} .")
BERT = dict(vocab_size=30522, initializer_range=SPREAD)
LLAMA = dict(vocab_size=128256, max_position_embeddings=2048, initializer_range=SPREAD, bos_token_id=1, eos_token_id=2,
             rms_norm_eps=1e-5)
SHAPES = {
    "bert-base": ("bert", BERT | dict(hidden_size=768, num_hidden_layers=12, num_attention_heads=12, intermediate_size=3072)),
    "bert-large": ("bert", BERT | dict(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096)),
    "roberta-large": ("roberta", dict(vocab_size=50265, max_position_embeddings=514, type_vocab_size=1, hidden_size=1024,
                                      num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096,
                                      initializer_range=SPREAD, pad_token_id=1, bos_token_id=0, eos_token_id=2)),
    "llama-1b": ("llama", LLAMA | dict(hidden_size=2048, num_hidden_layers=16, num_attention_heads=32, num_key_value_heads=8,
                                       intermediate_size=8192, tie_word_embeddings=True)),
    "llama-8b": ("llama", LLAMA | dict(hidden_size=4096, num_hidden_layers=32, num_attention_heads=32, num_key_value_heads=8,
                                       intermediate_size=14336)),
    "mixtral-small": ("mixtral", LLAMA | dict(vocab_size=32000, hidden_size=2048, num_hidden_layers=16, num_attention_heads=32,
                                              num_key_value_heads=8, intermediate_size=5632, num_local_experts=8,
                                              num_experts_per_tok=2)),
}
SMALL = {"bert": dict(vocab_size=1200, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128),
         "roberta": dict(vocab_size=1200, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128),
         "llama": dict(vocab_size=1200, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                       intermediate_size=128),
         "mixtral": dict(vocab_size=1200, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                         intermediate_size=96)}


def write_checkpoint(name, folder, device, small):
    """A Hugging Face folder with weights drawn on `device`, stored in bfloat16, and a tokenizer."""
    import torch
    import transformers
    kind, settings = SHAPES[name]
    settings = settings | (SMALL[kind] if small else {})
    if (folder / "tokenizer.json").exists():
        return
    torch.manual_seed(20220710)
    config = transformers.AutoConfig.for_model(kind, **settings)
    family = transformers.AutoModelForMaskedLM if kind in ("bert", "roberta") else transformers.AutoModelForCausalLM
    with torch.device(device):
        model = family.from_config(config, dtype=torch.bfloat16)
    model.save_pretrained(folder, max_shard_size="8GB")
    del model
    if device == "cuda":
        torch.cuda.empty_cache()
    tokenizer = word_pieces(settings["vocab_size"]) if kind == "bert" else byte_pairs(settings["vocab_size"], kind)
    tokenizer.save(str(folder / "tokenizer.json"))
    names = {"bert": dict(unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", pad_token="[PAD]", mask_token="[MASK]"),
             "roberta": dict(bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="<unk>", mask_token="<mask>")}
    (folder / "tokenizer_config.json").write_text(json.dumps(
        dict(tokenizer_class="PreTrainedTokenizerFast") | names.get(kind, dict(bos_token="<s>", eos_token="</s>"))))


def words():
    """All words that items are made of."""
    text = " ".join([*ADJECTIVES, *NOUNS, *PLACES, *TRAITS, *TEMPLATES, *SENTENCES])
    return sorted(set("".join(letter if letter.isalpha() else " " for letter in text.lower()).split()))


def word_pieces(size):
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    letters = "abcdefghijklmnopqrstuvwxyz"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words(), *letters, *".,", *("##" + letter for letter in letters)]
    pieces = list(dict.fromkeys(pieces))
    pieces += [f"[unused{number}]" for number in range(size - len(pieces))]
    tokenizer = Tokenizer(models.WordPiece({piece: number for number, piece in enumerate(pieces)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return tokenizer


def byte_pairs(size, kind):
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    specials = ["<s>", "<pad>", "</s>", "<unk>"] if kind == "roberta" else ["<unk>", "<s>", "</s>"]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=min(size, 1100), special_tokens=specials, show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator([" ".join([word, word, "The", word.title()]) for word in words() for _ in range(3)], trainer)
    content = json.loads(tokenizer.to_str())
    vocabulary = content["model"]["vocab"]
    for number in range(len(vocabulary), size - (kind == "roberta")):
        vocabulary[f"unused {number}"] = number  # no text has a blank inside a token
    tokenizer = Tokenizer.from_str(json.dumps(content))
    if kind == "roberta":
        tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True, normalized=False)])
        tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    else:
        tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return tokenizer


SENTENCES = ("the {a} told the {b} near the {p} that the work was late because the weather turned bad . the pronoun refers to the",
             "after the meeting at the {p} the {a} thanked the {b} and left before the rain began . the pronoun refers to the",
             "the {a} asked the {b} to wait at the {p} since the road was closed that morning . the pronoun refers to the")


def subjects(count, rng):
    every = [f"{left} {right} {noun}" for left in ADJECTIVES for right in ADJECTIVES if left != right for noun in NOUNS]
    return rng.sample(every, min(count, len(every)))


def association_items(texts, mask, piece_of):
    """Items of bench_association: one text for every subject, template and place, four traits each."""
    rng = random.Random(1)
    items = []
    for number, subject in enumerate(subjects(texts // len(TEMPLATES), rng)):
        place = PLACES[number % len(PLACES)]
        for template in TEMPLATES:
            text, prior = (template.format(who, place, mask) for who in (subject, "person"))
            for trait in rng.sample(TRAITS, 4):
                items.append(dict(id=len(items), text=text, prior_text=prior, slots=[0, 0], piece=piece_of(trait), trait=trait))
    return items


def continuation_items(prompts):
    """Two occupations after every prompt; prompts of a sentence differ in the subject's adjectives."""
    rng = random.Random(2)
    items = []
    pairs = [(a, b) for a in NOUNS for b in NOUNS if a != b]
    for number in range(prompts):
        a, b = pairs[number // 40 % len(pairs)]
        left, right = ADJECTIVES[number % 25], ADJECTIVES[(number // 25 + 1 + number) % 25]
        text = SENTENCES[number // 40 % 3].format(a=f"{left} {right} {a}", b=b, p=rng.choice(PLACES))
        items += [dict(id=2 * number + i, prompt=text, continuation=f" {who}", shared=text) for i, who in enumerate((a, b))]
    return items


def embedding_items(texts):
    rng = random.Random(3)
    items = []
    for number, subject in enumerate(subjects(texts, rng)):
        before = f"yesterday morning the {rng.choice(PLACES)} was quiet when the "
        text = f"{before}{subject} spoke about the {rng.choice(PLACES)} and the {rng.choice(PLACES)} near the old town ."
        items.append(dict(id=number, text=text, span=[len(before), len(before) + len(subject)]))
    return items


def generation_items(prompts):
    return [dict(id=number, prompt=f"The {subject} walked to the {PLACES[number % len(PLACES)]} and said that")
            for number, subject in enumerate(subjects(prompts, random.Random(4)))]


def write_lines(path, items):
    path.write_text("".join(json.dumps(item) + "\n" for item in items))
    return path


def operations(name, small):
    """Floating point operations of one token in the body, and of one row in the vocabulary projection."""
    kind, settings = SHAPES[name]
    s = settings | (SMALL[kind] if small else {})
    hidden, inner = s["hidden_size"], s["intermediate_size"]
    keys = hidden * s.get("num_key_value_heads", s["num_attention_heads"]) // s["num_attention_heads"]
    matrices = 2 if kind in ("bert", "roberta") else 3 * s.get("num_experts_per_tok", 1)
    layer = 2 * (hidden * (2 * hidden + 2 * keys) + matrices * hidden * inner)
    return s["num_hidden_layers"] * layer, 2 * hidden * s["vocab_size"]
