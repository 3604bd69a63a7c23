//! Which bytes of the connection a pipe's virtual segments carry when they leave, and what acknowledgements say of
//! them.
use super::Pipe;
use crate::binding::{Binding, Hold};
use crate::send_buffer::SendBuffer;
use core::ops::Range;
use prismux_units::Instant;
use prismux_wire::TcpHeader;

/// What a pipe needs to judge acknowledgements.
pub(crate) struct Settle<'a> {
    pub send_buffer: &'a mut SendBuffer,
    /// When bytes that are still unconfirmed are sent again.
    pub due: Instant,
    pub recheck_unconfirmed: bool,
}

impl Pipe {
    /// What the acknowledgement in `header` says about bound bytes.
    pub(super) fn settle(&mut self, header: &TcpHeader, settle: &mut Settle<'_>) {
        let due = settle.due;
        let send_buffer = &mut *settle.send_buffer;
        let mut settled = |binding: Binding| match binding.hold {
            // The acknowledgement may answer an earlier transmission, with other bytes.
            Hold::Owner if binding.ambiguous && settle.recheck_unconfirmed => {
                send_buffer.doubt(binding.carried(), due);
            }
            Hold::None if !binding.ambiguous => send_buffer.note_arrival(binding.carried(), due),
            Hold::Copy if !binding.ambiguous => send_buffer.note_arrival(binding.carried(), due),
            _ => {}
        };
        self.bindings.acknowledge(self.tcp.stream_acked(), &mut settled);
        if header.options.sack.is_empty() || self.bindings.is_empty() {
            return;
        }
        let (origin, acked, next) = (self.origin, self.tcp.stream_acked(), self.bindings.next());
        for block in header.options.sack.as_slice() {
            let positions = (block.start.unwrap_near(origin, acked), block.end.unwrap_near(origin, acked));
            if let (Some(start), Some(end)) = positions
                && start >= acked
                && end <= next
            {
                self.bindings.arrived(start..end, &mut settled);
            }
        }
    }

    pub(super) fn bind_new(&mut self, send_buffer: &mut SendBuffer, length: u32) -> Range<u64> {
        let data = send_buffer.bind(self.id, length, false).unwrap_or(send_buffer.acked..send_buffer.acked);
        debug_assert_eq!(data.end - data.start, u64::from(length), "what was offered is there");
        self.bindings.push(data.clone());
        data
    }

    /// The virtual segment at `start` keeps its bytes as a copy, and they are unbound. Says whether there was
    /// something to unbind.
    pub(super) fn copy_out(&mut self, send_buffer: &mut SendBuffer, start: u64) -> bool {
        let owned =
            self.bindings.at(start).filter(|binding| binding.hold == Hold::Owner && !binding.ambiguous);
        let Some(binding) = owned else { return false };
        let unbound = send_buffer.unbind(binding.carried(), self.id);
        if unbound {
            binding.hold = Hold::Copy;
            send_buffer.counters.redundant_segments += 1;
        }
        unbound
    }

    /// A virtual segment is sent again: the same bytes if it still has them, else others, else none.
    pub(super) fn bind_again(&mut self, send_buffer: &mut SendBuffer, start: u64, length: u32) -> Range<u64> {
        let acked = send_buffer.acked;
        let Some(binding) = self.bindings.at(start) else { return acked..acked };
        let carried = binding.carried();
        if binding.hold != Hold::None && carried.end > acked {
            return carried.start.max(acked)..carried.end;
        }
        if !binding.ambiguous {
            // The pipe holds its only transmission for lost: no byte need wait for it.
            send_buffer.give_up(carried, self.id);
        }
        // Reported as arrived or not: what it carries now may get lost unnoticed by the pipe.
        (binding.ambiguous, binding.arrived) = (true, false);
        // Into the dark goes a copy: what a silent pipe alone held would wait for its next timeout, each twice as long.
        let data =
            if self.silent { send_buffer.lowest(length) } else { send_buffer.bind(self.id, length, true) };
        let counters = &mut send_buffer.counters;
        match &data {
            Some(_) => counters.rebound_segments += 1,
            None => counters.void_segments += 1,
        }
        binding.hold = match data {
            Some(_) if self.silent => Hold::Copy,
            Some(_) => Hold::Owner,
            None => Hold::None,
        };
        let data = data.unwrap_or(acked..acked);
        (binding.data, binding.bytes) = (data.start, (data.end - data.start) as u32);
        data
    }
}
