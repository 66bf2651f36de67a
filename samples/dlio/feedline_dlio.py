"""feedline's loader in DLIO, the program of MLPerf Storage.

    PYTHONPATH=samples/dlio dlio_benchmark workload=unet3d_h100 \
        ++workload.reader.data_loader_classname=feedline_dlio.FeedlineDataLoader \
        ++workload.reader.data_loader_sampler=index

DLIO makes one object for training and one for evaluation, calls `read` once, and `next` in each
epoch. Each of its processes gets its part of each global batch. `reader.read_threads` are
feedline's readers, and `dataset.record_length_bytes` tells the size of images. Batches end in host
memory, as the benchmark's rules say. Samples are read whole. DLIO ignores what a batch contains.
"""

import math
import os
import tempfile

import feedline
from dlio_benchmark.common.enumerations import (
    DataLoaderType,
    DatasetType,
    FormatType,
    Shuffle,
)
from dlio_benchmark.data_loader.base_data_loader import BaseDataLoader


def open_arrays(files, args):
    if args.num_samples_per_file != 1:
        raise feedline.UsageError(
            f"feedline_dlio: {args.format.value} files with {args.num_samples_per_file} samples: "
            f"they are stored along the last axis, so a sample cannot be read by itself; set "
            f"dataset.num_samples_per_file to 1"
        )
    field = "x" if args.format is FormatType.NPZ else "array"
    return feedline.open_array_files(files, fields=[field])


def open_tfrecords(files, args):
    return feedline.open_tfrecord(files, fields=["image"])


def open_hdf5(files, args):
    names = [found.name.strip("/") for found in feedline.list_fields(files[0])]
    records = [name for name in names if name.startswith("records")]  # or records_0, records_1, …
    return feedline.concatenate([feedline.open_hdf5(file, records) for file in files])


def open_images(files, args):
    side = int(math.sqrt(args.record_length))
    image = feedline.ImageOptions(height=side, width=side, channels=1)
    with tempfile.TemporaryDirectory() as folder:
        names = os.path.join(folder, "images.txt")
        with open(names, "w", encoding="utf-8") as out:
            out.writelines(f"{os.path.abspath(file)} 0\n" for file in files)
        return feedline.open_image_list(names, image=image)[0]


OPENERS = {
    FormatType.NPZ: open_arrays,
    FormatType.NPY: open_arrays,
    FormatType.TFRECORD: open_tfrecords,
    FormatType.HDF5: open_hdf5,
    FormatType.JPEG: open_images,
    FormatType.PNG: open_images,
}


class FeedlineDataLoader(BaseDataLoader):
    """A loader as DLIO's factory makes it: `data_loader_class(format, dataset type, epoch)`."""

    def __init__(self, format_type, dataset_type, epoch_number):
        super().__init__(format_type, dataset_type, epoch_number, DataLoaderType.PYTORCH)
        self._loader = None
        self._parts = 1
        self._epochs = 0

    def read(self):
        args = self._args
        is_training = self.dataset_type is DatasetType.TRAIN
        listed = args.file_list_train if is_training else args.file_list_eval
        files = [str(file) for file in listed]
        if args.format not in OPENERS:
            raise feedline.UsageError(
                f"feedline_dlio: dataset.format {args.format.value}: there are "
                f"{', '.join(known.value for known in OPENERS)}"
            )
        dataset = OPENERS[args.format](files, args)
        # Arrays that differ in size are padded to the longest. With a sample a batch, that takes
        # the memory of some samples instead of some batches.
        is_padded = any(field.name.endswith("_length") for field in dataset.fields)
        self._parts = self.batch_size if is_padded else 1
        is_shuffled = (args.file_shuffle, args.sample_shuffle) != (Shuffle.OFF, Shuffle.OFF)
        self._loader = feedline.Loader(
            dataset,
            batch_size=self.batch_size // self._parts,
            partial_batch="drop",
            shard=feedline.Shard(rank=args.my_rank, world=args.comm_size),
            readers=args.read_threads,
            shuffle=is_shuffled,
            seed=args.seed,
        )

    def next(self):
        super().next()
        epoch, self._epochs = self._epochs, self._epochs + 1
        for count, batch in enumerate(self._loader.epoch(epoch), 1):
            if count % self._parts == 0:
                yield batch

    def finalize(self):
        """DLIO calls it after each epoch, and takes further ones."""
