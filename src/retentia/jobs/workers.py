"""The workers of a memory: one thread that embeds, and one that summarises, so that no model holds up the other."""

from retentia.jobs.worker import Worker
from retentia.model.progress import Progress, unheard


class Workers:
    """Both workers as one."""

    def __init__(self, *, embedding: Worker, summarising: Worker) -> None:
        self.embedding = embedding
        self.summarising = summarising
        self._workers = (embedding, summarising)

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
