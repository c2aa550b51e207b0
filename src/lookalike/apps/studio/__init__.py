"""The whole way in a browser: a local web page around the same pipeline as the command line.

    serving    a port, a token, a link            security   who may talk to it
    app        routes and errors                  workspace  what is open, in a private folder
    api        JSON, the whole of it              pages      HTML, a view of the same
    columns    what they hold and are taken for   promises   what they allow, which methods serve them
    jobs       one run at a time, in a process    work       what that process does
    results    the result of a run, and its export

The web framework is loaded here and nowhere else.
"""
