"""Mistakes that type checkers must find, one a line."""

import feedline

dataset = feedline.open("x.npy")
feedline.Loader(dataset, partial_batch="sometimes")
feedline.Loader(dataset, batch_size="many")
feedline.ErrorPolicy(action="ignore")
feedline.Shard(rank="first")
feedline.shuffle(seeds=3)
feedline.Loader(dataset).epoch("one")
