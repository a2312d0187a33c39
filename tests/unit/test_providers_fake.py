import subprocess
import sys

import numpy as np

from retentia.testing import FakeEmbedder


def test_the_fake_gives_the_same_vectors_in_another_process() -> None:
    code = "from retentia.testing import FakeEmbedder; print(FakeEmbedder(8).embed_query('Where is Olena?').tolist())"
    run = [sys.executable, "-c", code]
    outputs = {
        subprocess.run(run, capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed}).stdout
        for seed in ("1", "2")
    }
    assert outputs == {f"{FakeEmbedder(8).embed_query('Where is Olena?').tolist()}\n"}


def test_the_fake_puts_texts_with_shared_words_near_each_other() -> None:
    fake = FakeEmbedder()
    rows = fake.embed(["Olena lives in Kyiv", "the invoice is unpaid"])
    near, far = rows @ fake.embed_query("where does OLENA live? in Kyiv?")
    assert near > 0.3 > abs(far)


def test_the_smallest_fake_still_has_directions() -> None:
    rows = FakeEmbedder(1).embed(["a", "b", "a b", ""])
    assert np.allclose(np.abs(rows), 1)
