"""A loop of Accelerate that saves every 5 steps, and goes on from the last state that there is."""

import common
import torch
from accelerate import Accelerator

import feedline.accelerate


def main():
    args = common.arguments()
    accelerator = Accelerator(cpu=True)
    model = common.make_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    loader = feedline.accelerate.Loader(
        accelerator,
        common.dataset(),
        common.sampler(),
        global_batch=common.GLOBAL_BATCH,
        epochs=common.EPOCHS,
    )
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    accelerator.register_for_checkpointing(loader)
    record = common.Record(args, accelerator.process_index, accelerator.num_processes)
    state = args.folder / "state"
    step = 0
    if state.exists():
        accelerator.load_state(str(state))
        step = int((args.folder / "step.txt").read_text())
    for _ in range(loader.next_epoch, common.EPOCHS):
        for batch in loader:
            loss = common.loss_of(model, batch["x"])
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            step += 1
            record.step(step, batch["y"])
            if step % 5 == 0:
                accelerator.save_state(str(state))
                (args.folder / "step.txt").write_text(str(step))
                accelerator.wait_for_everyone()
            record.after(step)
    if accelerator.is_main_process:
        common.save_parameters(args, accelerator.unwrap_model(model))
    accelerator.end_training()


main()
