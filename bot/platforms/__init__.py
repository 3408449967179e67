"""Chat platforms: each package here is one, found by its name (`bot.ports.platforms`).

The bot asks a platform's package for these modules, of which only the first must be there:

    platform.py        connect(settings, dispatch) -> Platform | None
                       builds it; None where it is not configured. Does no I/O.
    doctor.py          async examine(settings) -> list[Finding]
                       looks at what the platform needs; empty where it is not used.
    history.py         open_reader(settings) -> async context manager of a HistoryReader
                       signs in to read channels as sources.
    setup.py           what `threadlore init` asks and writes (`bot.ports.platforms.Setup`).
    personal_data.py   what the platform keeps of people in the home (`bot.ports.platforms.PersonalData`).

A package may say of its platform, in its `__init__.py`:

    TOKENS                    variables of its tokens, each a field of the settings: it is configured where
                              any is set; a platform that names none needs none
    NOBODY_SIGNS_IN = True    from there people reach nobody on other platforms
    SENDS_NO_FILES = True     the bot cannot send a file there
    CHANNELS_HAVE_IDS = True  a channel is written by its id, not by its name
    LIBRARIES                 names of loggers that tell too much
    SECRETS                   a pattern of what no line of a log may hold
"""
