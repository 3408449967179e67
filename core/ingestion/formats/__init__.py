"""One file per format, named as `RawDocument.format` is: `parse(raw, text) -> Document`."""
