def hosts(count):
    return [f"decode-{i}" for i in range(count)]


decode = hosts("three")
