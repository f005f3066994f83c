"""Small spaCy pipelines of our own: tags by rule, and a parser that has learnt a few sentences by heart."""

import random

import spacy
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import fix_random_seed

# Words with their Penn Treebank tags: what the tests look for is made of these.
TAGGED = (
    "the/DT longer/RBR sooner/RBR we/PRP waited/VBD grew/VBD met/VBD is/VBZ colder/JJR better/JJR older/JJR younger/JJR former/JJR"
    " latter/JJR cold/JJ warm/JJ soup/NN man/NN woman/NN ,/, ./."
)
# In ClearNLP's relations, as spaCy's own English pipelines give them.
PARSED = [
    "She/she/PRON/PRP/nsubj/2 kicked/kick/VERB/VBD/ROOT/2 the/the/DET/DT/det/4 ball/ball/NOUN/NN/dobj/2 into/into/ADP/IN/prep/2 "
    "the/the/DET/DT/det/7 net/net/NOUN/NN/pobj/5 ././PUNCT/./punct/2",
    "The/the/DET/DT/det/2 ball/ball/NOUN/NN/nsubjpass/4 was/be/AUX/VBD/auxpass/4 kicked/kick/VERB/VBN/ROOT/4 out/out/ADP/IN/prep/4 "
    "of/of/ADP/IN/prep/5 the/the/DET/DT/det/8 net/net/NOUN/NN/pobj/6 by/by/ADP/IN/agent/4 him/he/PRON/PRP/pobj/9 ././PUNCT/./punct/4",
    "He/he/PRON/PRP/nsubj/2 talked/talk/VERB/VBD/ROOT/2 her/she/PRON/PRP/dobj/2 into/into/ADP/IN/prep/2 singing/sing/VERB/VBG/pcomp/4 "
    "././PUNCT/./punct/2",
    "She/she/PRON/PRP/nsubj/2 wiped/wipe/VERB/VBD/ROOT/2 the/the/DET/DT/det/4 shelf/shelf/NOUN/NN/dobj/2 clean/clean/ADJ/JJ/oprd/2 "
    "././PUNCT/./punct/2",
    "The/the/DET/DT/det/2 gate/gate/NOUN/NN/nsubj/3 swung/swing/VERB/VBD/ROOT/3 open/open/ADJ/JJ/advmod/3 ././PUNCT/./punct/3",
    "He/he/PRON/PRP/nsubj/2 kicked/kick/VERB/VBD/ROOT/2 her/she/PRON/PRP/dative/2 the/the/DET/DT/det/5 ball/ball/NOUN/NN/dobj/2 "
    "././PUNCT/./punct/2",
    "He/he/PRON/PRP/nsubj/2 kicked/kick/VERB/VBD/ROOT/2 the/the/DET/DT/det/4 ball/ball/NOUN/NN/dobj/2 to/to/ADP/IN/dative/2 "
    "her/she/PRON/PRP/pobj/5 ././PUNCT/./punct/2",
    "He/he/PRON/PRP/nsubj/4 did/do/AUX/VBD/aux/4 not/not/PART/RB/neg/4 see/see/VERB/VB/ROOT/4 the/the/DET/DT/det/6 net/net/NOUN/NN/dobj/4 "
    ",/,/PUNCT/,/punct/4 let/let/VERB/VB/dep/4 alone/alone/ADV/RB/advmod/8 the/the/DET/DT/det/11 ball/ball/NOUN/NN/npadvmod/8 "
    "././PUNCT/./punct/4",
]
_ROUNDS = 25
_TRANSITIONS = {"state_type": "parser", "extra_state_tokens": False, "hidden_width": 32, "maxout_pieces": 2, "use_upper": True, "nO": None}


def write_tagger(folder):
    """A pipeline that tags, and does nothing else."""
    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("attribute_ruler")
    for word, tag in (pair.rsplit("/", 1) for pair in TAGGED.split()):
        ruler.add([[{"LOWER": word}]], {"TAG": tag})
    nlp.to_disk(folder)


def write_parser(folder):
    """A pipeline with a parser that has learnt `PARSED` by heart; tags, parts of speech and lemmas by rule."""
    nlp = spacy.blank("en")
    size = {"width": 32, "depth": 2, "embed_size": 200, "window_size": 1, "maxout_pieces": 2}
    tok2vec = {"@architectures": "spacy.HashEmbedCNN.v2", "pretrained_vectors": None, "subword_features": True, **size}
    model = {"@architectures": "spacy.TransitionBasedParser.v2", "tok2vec": tok2vec, **_TRANSITIONS}
    nlp.add_pipe("parser", config={"model": model, "min_action_freq": 1})
    docs = [parsed(nlp.vocab, text) for text in PARSED]
    examples, order = [Example(nlp.make_doc(doc.text), doc) for doc in docs], random.Random(0)
    fix_random_seed(0)
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.01  # by heart, and soon
    for _ in range(_ROUNDS):
        order.shuffle(examples)
        nlp.update(examples, sgd=optimizer)
    ruler = nlp.add_pipe("attribute_ruler")
    for token in (token for doc in docs for token in doc):
        ruler.add([[{"LOWER": token.lower_}]], {"TAG": token.tag_, "POS": token.pos_, "LEMMA": token.lemma_})
    nlp.to_disk(folder)


def parsed(vocab, text):
    """A document of words written WORD/LEMMA/POS/TAG/RELATION/HEAD, heads counted from 1."""
    words, lemmas, pos, tags, relations, heads = zip(*(word.split("/") for word in text.split()), strict=True)
    places = [int(head) - 1 for head in heads]
    spaces = [following not in {",", "."} for following in [*words[1:], "."]]
    return Doc(vocab, words, spaces, lemmas=lemmas, pos=pos, tags=tags, deps=relations, heads=places)
