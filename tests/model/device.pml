/* The device: streams and events.
 *
 * What a host thread issues stands in the queue of a stream. A process for each stream executes it
 * later, in order, and beside all others. An event is two numbers: how often it was recorded by the
 * host, and how far streams have come with that. A wait stands for the record that was the last
 * when it was issued, as cudaStreamWaitEvent has it. Two streams may record an event; it is reached
 * when the later record is.
 *
 * Who includes this defines STREAMS, EVENTS and QUEUE (room for all that can be issued at once), and
 * begin_copy, end_copy, begin_kernel and end_kernel: what these do to memory.
 */

mtype = { wait_for, record, copy, kernel };

chan queue[STREAMS] = [QUEUE] of { mtype, byte, byte, byte };
byte recorded[EVENTS];  /* by the host */
byte reached[EVENTS];   /* by the stream */

#define is_done(event) (reached[event] == recorded[event])

inline issue(number, what, a, b, c) {
  assert(nfull(queue[number]));
  queue[number] ! what, a, b, c
}

inline issue_record(number, event) {
  recorded[event]++;
  issue(number, record, event, recorded[event], 0)
}

/* An event that is done, or was never recorded, delays no thread. */
inline issue_wait(number, event) {
  if
  :: is_done(event)
  :: else -> issue(number, wait_for, event, recorded[event], 0)
  fi
}

/* A copy or kernel begins as soon as its stream comes to it, and ends at any time later: so it is
 * beside all that it can be beside. What is recorded behind it is recorded as it ends. */
proctype stream(byte number) {
  mtype what;
  byte a, b, c;

end:
  atomic {
    queue[number] ? what, a, b, c;
    if
    :: what == record -> reached[a] = (reached[a] > b -> reached[a] : b); goto end
    :: what == wait_for -> reached[a] >= b; goto end
    :: what == copy -> begin_copy(a, b)
    :: what == kernel -> begin_kernel(a, b)
    fi
  }
  atomic {
    if
    :: what == copy -> end_copy(a, b, c)
    :: what == kernel -> end_kernel(a, b)
    fi;
    what = 0; a = 0; b = 0; c = 0;
    goto end
  }
}
