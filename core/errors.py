"""Every error that Threadlore raises on purpose, in one tree.

    ThreadloreError
    ├── ConfigurationError      corpora.toml or .env says something that cannot be
    ├── UsageError              a command was called wrongly
    ├── HomeError
    │   ├── HomeBusy            another process has the home folder
    │   ├── DatabaseBusy        another process, with another home, has the database
    │   └── HomeTooNew          a newer version wrote it
    ├── SourceError             a source of documents cannot be read
    │   ├── SourceAway          its place does not answer now
    │   ├── SourceClosed        what it held may not be told any more
    │   └── TooCostly           a document takes more time or memory than one may
    ├── WorkEnded               work was ended before it was done
    ├── StorageError            disk full, database unreachable
    │   └── OverQuota           an index would be larger than it may be
    ├── WordsGone               somebody was forgotten whose words an answer was made of
    ├── EncoderError
    │   └── EncoderChanged      the index was built with another embedder
    ├── ModelError
    │   ├── ModelUnavailable    no answer, time-out                        (retryable)
    │   │   └── ServerDown      nothing listens there: not asked again at once
    │   ├── ModelBusy           the server's queue is full                 (retryable)
    │   ├── ModelMissing        the server does not have the model
    │   ├── ModelRefused        the server rejects the request
    │   │   └── ServerRefused   the server takes no request of ours at all
    │   ├── ModelInterrupted    an answer broke off in mid-stream          (retryable)
    │   └── ModelMalformed      output that is empty or does not parse     (retryable)
    └── PlatformError           Slack or Discord rejects us
        └── PlatformRejected    a token or a permission is wrong
            ├── ChannelClosed   a channel is private, gone, or not for the bot
            └── MessageGone     a message was deleted

The message of an error is one sentence (or two) that says what to do. `retryable` says whether
the same call may work later; `told` is what an asker reads in the thread.
"""

from __future__ import annotations

from core.languages import N_


class ThreadloreError(Exception):
    """Say in one sentence what is wrong and what to do about it."""

    retryable = False
    exit_code = 1
    told = N_("Something went wrong on my side; my admins can see what in the log.")


class ConfigurationError(ThreadloreError):
    """Report a setting that cannot be, with file, line and key."""


class UsageError(ThreadloreError):
    """Report a command that was called wrongly."""

    exit_code = 2


class HomeError(ThreadloreError):
    """Report a home folder that cannot be used."""


class HomeBusy(HomeError):
    """Report that another process has the home folder."""


class DatabaseBusy(HomeError):
    """Report that another process, with a home of its own, has the database."""


class HomeTooNew(HomeError):
    """Report that a newer version wrote the home folder."""


class SourceError(ThreadloreError):
    """Report a source of documents that cannot be read."""


class SourceAway(SourceError):
    """Report that the place of a source does not answer now; it may later."""


class SourceClosed(SourceError):
    """Report a source whose documents may not be told any more, such as a channel that became private."""


class NoDocument(SourceError):
    """Report what is no document any more because its author wants it so: it is empty, or a draft."""


class WordsGone(ThreadloreError):
    """Report that somebody was forgotten while an answer was made of their words."""

    told = N_("The sources of this answer have just been removed. Please ask again.")


class TooCostly(SourceError):
    """Report a document that takes more than one may, or ends the process that reads it.

    `memory` tells that memory was what it took too much of.
    """

    def __init__(self, message: str, memory: bool = False) -> None:
        super().__init__(message)
        self.memory = memory


class WorkEnded(ThreadloreError):
    """Report that work in another process was ended before it was done: its reading was, or the bot is."""


class StorageError(ThreadloreError):
    """Report that something could not be kept."""


class StorageUnavailable(StorageError):
    """Report that nothing can be written down at present: the disk is full, or the database is away."""

    retryable = True
    told = N_("I cannot save anything right now, so I could not do this. Please try again later.")


class OverQuota(StorageError):
    """Report that an index would be larger than it may be."""


class EncoderError(ThreadloreError):
    """Report an embedding model that cannot be loaded or used."""


class EncoderChanged(EncoderError):
    """Report that the index belongs to another embedding model."""


class ModelError(ThreadloreError):
    """Report that the language model did not do its part."""

    told = N_("The language model is not answering right now.")


class ModelUnavailable(ModelError):
    """Report that no model server answers."""

    retryable = True


class ServerDown(ModelUnavailable):
    """Report that nothing listens where the model should be: asking again at once is no use."""


class ModelBusy(ModelError):
    """Report that the model server's queue is full; `after` are the seconds it asks to be left alone for."""

    retryable = True

    def __init__(self, message: str = "", after: float = 0.0) -> None:
        super().__init__(message)
        self.after = after


class ModelMissing(ModelError):
    """Report that the server does not have the model."""


class ModelRefused(ModelError):
    """Report that the server rejects the request."""


class ServerRefused(ModelRefused):
    """Report a server that takes no request of ours, such as one that wants a login; another one may."""


class ModelInterrupted(ModelError):
    """Report an answer that broke off in mid-stream."""

    retryable = True


class ModelMalformed(ModelError):
    """Report output that is empty or does not parse; `said` is what the model wrote, where that is known."""

    retryable = True

    def __init__(self, message: str = "", said: str = "") -> None:
        super().__init__(message)
        self.said = said


class PlatformError(ThreadloreError):
    """Report that a chat platform did not do what was asked; `in_doubt` says that it may have done it."""

    retryable = True
    in_doubt = True


class PlatformRejected(PlatformError):
    """Report a token or a permission that the platform rejects."""

    retryable = False
    in_doubt = False


class ChannelClosed(PlatformRejected):
    """Report a channel that is private, gone, or that the bot is not in."""


class MessageGone(PlatformRejected):
    """Report a message that was deleted, so that nothing can be done to it or said under it."""
