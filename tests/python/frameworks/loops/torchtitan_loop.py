"""A loop that saves by torch.distributed.checkpoint, as torchtitan does, every 5 steps."""

import common
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.nn.parallel import DistributedDataParallel

import feedline.torchtitan


class TrainState:
    def __init__(self):
        self.step = 0

    def state_dict(self):
        return {"step": torch.tensor(self.step)}

    def load_state_dict(self, state):
        self.step = int(state["step"])


def main():
    args = common.arguments()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    model = common.make_model()
    parallel = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    loader = feedline.torchtitan.DataLoader(
        common.dataset(),
        dp_rank=rank,
        dp_world_size=world,
        local_batch_size=common.GLOBAL_BATCH // world,
        sampler=common.sampler(),
        inputs=["x"],
        labels="y",
    )
    train_state = TrainState()
    states = {"model": model, "dataloader": loader, "train_state": train_state}
    record = common.Record(args, rank, world)
    saved = sorted(args.folder.glob("step-*"))
    if saved:
        dcp.load(states, checkpoint_id=saved[-1])
    batches = iter(loader)
    while train_state.step < common.EPOCHS * common.SAMPLES // common.GLOBAL_BATCH:
        inputs, labels = next(batches)
        common.loss_of(parallel, inputs["x"]).backward()
        optimizer.step()
        optimizer.zero_grad()
        train_state.step += 1
        record.step(train_state.step, labels)
        if train_state.step % 5 == 0:
            dcp.save(states, checkpoint_id=args.folder / f"step-{train_state.step:03}")
        record.after(train_state.step)
    if rank == 0:
        common.save_parameters(args, model)
    dist.destroy_process_group()


main()
