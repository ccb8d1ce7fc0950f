all = (["c", "a", "b"], {"color": "blue"})
late = ["b", "a"]
