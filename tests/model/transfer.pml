/* The transfer, and what it issues. src/transfer, and device_ring's deliver. */

/* A device slot's content: its ticket's first piece, its good batches, whether a failure is behind
 * them. */
byte content[DEVICE_SLOTS];
byte good[DEVICE_SLOTS];
bit has_failure[DEVICE_SLOTS];

inline deliver(slot) {
    content[slot] = first_piece(epoch_of(piece), ticket_of(piece));
    good[slot] = batches;
    has_failure[slot] = failure;
    DEVICE(slot, free, filled, transfer);
    ready_slots ! slot
}

/* copy_transfer::wait_for_room, on one stream. */
inline wait_for_room(number) {
#ifndef NO_RELEASE_WAIT
  issue_wait(number, released(to));
#endif
#ifndef NO_READY_WAIT
  issue_wait(number, ready(to));
#endif
}

/* copy_transfer::carry. */
inline carry() {
  if
  :: place_of(piece) == 0 -> by_turns = (PIECES > 1 && is_done(released(to)))
  :: else
  fi;
  if
  :: by_turns -> number = turn; turn = 1 - turn
  :: else -> number = 0
  fi;
  if
  :: place_of(piece) == 0 && by_turns -> wait_for_room(0); wait_for_room(1)
  :: place_of(piece) == 0 && !by_turns -> wait_for_room(0)
  :: else
  fi;
#ifdef RECORD_BEFORE_COPY
  issue_record(number, copied(slot));
#endif
  if
  :: issue(number, copy, slot, to, piece)
  :: device_faults > 0 ->  /* a call was refused: the events follow what was issued */
       device_faults--;
       if
       :: issue(number, copy, slot, to, piece)
       :: true
       fi;
       batches = 0;
       failure = 1;
       note_failure(epoch_of(piece), ticket_of(piece) * BATCHES);
       if
       :: true
       :: lost = 1; end_failure = 2; goto closing  /* no event can be recorded */
       fi
  fi;
#ifndef RECORD_BEFORE_COPY
  issue_record(number, copied(slot));
#endif
#ifndef NO_PIECE_JOIN
  if
  :: place_of(piece) != 0 && by_turns -> issue_wait(number, copied_before)
  :: else
  fi;
#endif
  issue_record(number, ready(to));
  copied_before = copied(slot)
}

/* transfer::step, again and again: one step, but where it waits. */
proctype transfer() {
  byte slot, piece, batches, count, i, number, copied_before;
  byte to = NONE;
  bit failure, by_turns, turn;

step:
  atomic {
    slot = 0; piece = 0; count = 0; number = 0;
    /* staging_ring::next_filled */
    if
    :: opened ? slot
    :: empty(opened) && opened_closed ->
         end_failure = (end_failure -> end_failure : opening_failure);
         goto closing
#ifdef ANY_ORDER
    :: len(opened) > 1 -> opened ? slot; opened ! slot; goto step
#endif
    fi;
    if
    :: staging_state[slot] == staging_filled
    :: staging_state[slot] != staging_filled && recycled_closed ->
         end_failure = (end_failure -> end_failure : opening_failure);
         goto closing
    fi;
    piece = work[slot];

    /* transfer::deliver */
    if
    :: abandoned[epoch_of(piece)] ->
         slot_failure[slot] = 0;
         recycle_unread(slot);
         goto step
    :: else
    fi;
    /* transfer::add */
    if
    :: place_of(piece) == 0 -> batches = BATCHES; failure = 0
    :: else
    fi;
    if
    :: failure -> count = 0  /* a piece before it failed */
    :: !failure && slot_failure[slot] == 0 -> count = REQUESTS
    :: !failure && slot_failure[slot] != 0 ->
         batches = slot_failure[slot] - 1;
         failure = 1;
         count = requests_of(batches)
    fi;
    slot_failure[slot] = 0;
    for (i : 0 .. REQUESTS - 1) {  /* bytes that others read were written by readers */
      assert(i >= count || staged[slot * REQUESTS + i] == piece)
    }
    i = 0;

#ifdef IN_PLACE
#ifndef NO_LEND
    STAGING(slot, filled, leased, transfer);
#else
    recycle_unread(slot);
#endif
    deliver(slot)
  }
#else
    /* device_ring::acquire */
    if
    :: to != NONE
    :: to == NONE && free_closed -> goto closing
    :: to == NONE && nempty(free_slots) && !free_closed -> free_slots ? to
    fi;
    if
    :: count == 0 -> recycle_unread(slot)
    :: else ->
         carry();
         STAGING(slot, filled, copying, transfer);
         recycled ! slot
    fi;
    if
    :: ends_ticket(piece) -> deliver(to); to = NONE
    :: else
    fi
  }
#endif
  goto step;

closing:
  atomic {
    ready_closed = 1;  /* device_ring::end_delivery */
    close_all();
    ended++;
    slot = 0; piece = 0; batches = 0; count = 0; number = 0; copied_before = 0; to = 0;
    failure = 0; by_turns = 0; turn = 0
  }
}
