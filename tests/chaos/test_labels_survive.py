"""No label is lost or doubled while the web tier is killed with -9 at random."""

import itertools
import json
import random
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.chaos.killing import SEED
from tests.chaos.material import N_RESPONSES
from tests.chaos.processes import Installation
from tests.chaos.visitors import Proof, Visitor, work
from tests.chaos.web import WebServer, serving

N_ANNOTATORS = 4
# One kill in so many takes the whole tier, which then has to be started; the others take one worker.
ONE_IN = 6


@pytest.mark.parametrize(
    ("n_labels", "pause_s"),
    [
        pytest.param(160, (0.1, 0.8), id="160 labels"),
        pytest.param(N_ANNOTATORS * N_RESPONSES, (0.3, 3.0), id="2,000 labels", marks=pytest.mark.long),
    ],
)
def test_every_receipt_is_in_the_database_once(
    site: Installation, n_labels: int, pause_s: tuple[float, float]
) -> None:
    room = json.loads(
        site.finish(site.begin("-m", "tests.chaos.desk", str(N_ANNOTATORS), str(N_ANNOTATORS)))[0]
    )
    server = WebServer(site.environment, log=site.folder / "web.log")
    visitors = [
        Visitor(port=server.port, start=room["start"], session=session) for session in room["sessions"]
    ]

    with serving(server), ThreadPoolExecutor(N_ANNOTATORS) as people:
        done = threading.Event()
        at_work = [people.submit(work, visitor, n_most=n_labels // N_ANNOTATORS) for visitor in visitors]
        killer = threading.Thread(target=_kill_at_random, args=(server, done, pause_s))
        killer.start()
        try:
            proofs = [proof for person in at_work for proof in person.result()]
        finally:
            done.set()
            killer.join()

    assert len(proofs) == n_labels
    assert sum(visitor.n_broken for visitor in visitors) > 0, "no kill met a request, so nothing was tested"
    _assert_stored_once(site, proofs)


def _kill_at_random(server: WebServer, done: threading.Event, pause_s: tuple[float, float]) -> None:
    generator = random.Random(SEED)
    for n_kills in itertools.count(1):
        if done.wait(generator.uniform(*pause_s)):
            return
        if n_kills % ONE_IN:
            server.kill_worker(generator.randrange(16))
        else:
            server.kill()
            server.start()


def _assert_stored_once(site: Installation, proofs: list[Proof]) -> None:
    """Each receipt names one stored row, no other row was made, and nobody labelled an item twice."""
    rows = site.query(
        "SELECT submission_id, public_id, item_id, annotator_id FROM annotation_label "
        "WHERE is_imported = false AND is_current = true AND action = 'SUBMITTED'"
    )
    stored = {(str(submission).replace("-", ""), label) for submission, label, _, _ in rows}
    assert stored == {(proof.submission_id.replace("-", ""), proof.label_id) for proof in proofs}
    assert len({(item, annotator) for _, _, item, annotator in rows}) == len(rows) == len(proofs)
    assert site.count("is_imported = false", table="annotation_label") == len(proofs)
