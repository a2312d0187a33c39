"""The workers of a memory: each a thread, so that no model holds up the others."""

from retentia.jobs.worker import Worker
from retentia.model.progress import Progress, unheard


class Workers:
    """All workers as one: that which embeds, that which summarises, and others."""

    def __init__(self, *others: Worker, embedding: Worker, summarising: Worker) -> None:
        self.embedding = embedding
        self.summarising = summarising
        self._workers = (embedding, summarising, *others)

    def start(self) -> None:
        """Run each in a thread of its own until `stop`."""
        for worker in self._workers:
            worker.start()

    def wake(self) -> None:
        """Tell them that there is something to do now."""
        for worker in self._workers:
            worker.wake()

    def stop(self) -> None:
        """Let each finish the batch at hand and end; what is left stays queued."""
        for worker in self._workers:
            worker.stop()

    def drain(self, progress: Progress = unheard) -> int:
        """Run what is due now, in this thread; return how many jobs were done."""
        done = 0
        while worked := sum(worker.run_once() for worker in self._workers):
            done += worked
            progress(worked)
        return done
