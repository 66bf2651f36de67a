"""Two ranks of Accelerate: a plain loader that is prepared, and metrics that are gathered."""

import json

import common
from accelerate import Accelerator

import feedline.accelerate


def main():
    args = common.arguments()
    accelerator = Accelerator(cpu=True)
    plain = accelerator.prepare(feedline.Loader(common.dataset(), batch_size=4, drop_last=True))
    taken = [batch["y"].numpy().tolist() for batch in plain]
    (args.folder / f"taken{accelerator.process_index}.json").write_text(json.dumps(taken))

    part = feedline.subset(common.dataset(), range(13))
    loader = accelerator.prepare(feedline.accelerate.Loader(accelerator, part, global_batch=8))
    seen, synchronized = [], []
    for batch in loader:
        with accelerator.accumulate():
            synchronized.append(accelerator.sync_gradients)
        seen += accelerator.gather_for_metrics(batch["y"]).tolist()
    if accelerator.is_main_process:
        (args.folder / "seen.json").write_text(json.dumps([seen, synchronized]))
    accelerator.end_training()


main()
