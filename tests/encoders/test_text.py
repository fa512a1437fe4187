"""Texts as numbers."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer

from noisypairs.encoders import Words, named


def test_all_factors_together_hold_the_likeness_of_runs_of_letters() -> None:
    texts = ["red house", "a red red car", "blue car", "", "house of a car", "old red barn"]
    found = Words(n_components=5).fit_transform(texts)
    plain = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 4)).fit_transform(texts)
    likeness = (plain @ plain.T).toarray()
    inner = found @ found.T
    np.testing.assert_allclose(inner / inner[0, 0], likeness / likeness[0, 0], atol=1e-4)


def test_there_are_no_more_factors_than_the_texts_have() -> None:
    """Further ones would be rounding errors, which scaling would blow up."""
    texts = ["red car", "blue car", "red house", "blue house"] * 10
    assert Words(n_components=10).fit_transform(texts).shape == (40, 3)
    for nothing in (["", "", ""], [None, float("nan"), " "]):
        np.testing.assert_array_equal(Words().fit_transform(nothing), np.zeros((3, 1)))


@pytest.mark.parametrize("number", [1, 3, 30])
def test_new_texts_have_as_many_columns_and_a_text_has_its_numbers_again(number: int) -> None:
    rng = np.random.default_rng(0)
    words = [f"w{k}" for k in range(500)]
    texts = [" ".join(rng.choice(words, 6)) for _ in range(100)]
    encoder = clone(Words(number)).fit(texts)
    found = encoder.transform(texts)
    assert found.shape == (100, number)
    np.testing.assert_allclose(encoder.transform([texts[7], "", None])[0], found[7], atol=1e-6)
    assert len(encoder.get_feature_names_out(["note"])) == number


def test_wordllama_is_the_mean_of_its_word_parts() -> None:
    pytest.importorskip("wordllama", reason="needs the extra text")
    from noisypairs.encoders import WordLlama

    encoder = WordLlama()
    found = encoder.fit_transform(["house", "car", "house car", "", None])
    assert found.shape == (5, 256)
    tokenizer, vectors = WordLlama.load()
    both = tokenizer.encode("house car", add_special_tokens=False)
    assert both.tokens == ["▁house", "▁car"]
    np.testing.assert_allclose(found[2], vectors[both.ids].mean(axis=0), atol=1e-6)
    np.testing.assert_array_equal(found[3:], 0)
    near = encoder.transform(["The dog barks.", "A puppy is barking.", "The invoice is unpaid."])
    unit = near / np.linalg.norm(near, axis=1, keepdims=True)
    assert unit[0] @ unit[1] > 0.3 + unit[0] @ unit[2]


def test_a_model_of_sentence_transformers_is_loaded_from_a_folder(tmp_path) -> None:
    package = pytest.importorskip("sentence_transformers", reason="needs sentence-transformers")
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "red": 1, "car": 2}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    weights = np.arange(12, dtype=np.float32).reshape(3, 4)
    model = StaticEmbedding(tokenizer, embedding_weights=weights)
    package.SentenceTransformer(modules=[model], device="cpu").save(str(tmp_path / "model"))
    encoder = named(f"sentence-transformers:{tmp_path / 'model'}")
    found = encoder.fit_transform(["red car", "car", None])
    np.testing.assert_allclose(found[:2], [weights[1:].mean(axis=0), weights[2]])
    assert found.shape == (3, 4)
    with pytest.raises(ValueError, match="expected a local folder that it was saved in"):
        named(f"sentence-transformers:{tmp_path}").fit_transform(["red"])
