//! Which bytes of the connection a pipe's virtual segments carry when they leave, and what acknowledgements say of them.
use super::Pipe;
use crate::binding::{Binding, Hold};
use crate::striper::Striper;
use core::ops::Range;
use prismux_units::Instant;
use prismux_wire::TcpHeader;

/// What a pipe needs to judge acknowledgements.
pub(crate) struct Settle<'a> {
    pub striper: &'a mut Striper,
    /// When suspects are looked at again.
    pub due: Instant,
    pub suspect_rule: bool,
}

impl Pipe {
    /// What the acknowledgement in `header` says about bound bytes.
    pub(super) fn settle(&mut self, header: &TcpHeader, settle: &mut Settle<'_>) {
        let due = settle.due;
        let striper = &mut *settle.striper;
        let mut settled = |binding: Binding| match binding.hold {
            // It may have been an earlier transmission, with other bytes.
            Hold::Owner if binding.ambiguous && settle.suspect_rule => {
                striper.suspect(binding.carried(), due);
            }
            Hold::None if !binding.ambiguous => striper.note_arrival(binding.carried(), due),
            Hold::Copy if !binding.ambiguous => striper.note_arrival(binding.carried(), due),
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

    pub(super) fn bind_new(&mut self, striper: &mut Striper, length: u32) -> Range<u64> {
        let data = striper.bind(self.id, length, false).unwrap_or(striper.acked..striper.acked);
        debug_assert_eq!(data.end - data.start, u64::from(length), "what was offered is there");
        self.bindings.push(data.clone());
        data
    }

    /// The virtual segment at `start` keeps its bytes as a copy, and they are untied. Says whether there was something to untie.
    pub(super) fn copy_out(&mut self, striper: &mut Striper, start: u64) -> bool {
        let owned =
            self.bindings.at(start).filter(|binding| binding.hold == Hold::Owner && !binding.ambiguous);
        let Some(binding) = owned else { return false };
        let untied = striper.untie(binding.carried(), self.id);
        if untied {
            binding.hold = Hold::Copy;
            striper.counters.redundant_segments += 1;
        }
        untied
    }

    /// A virtual segment is sent again: the same bytes if it still has them, else others, else none.
    pub(super) fn bind_again(&mut self, striper: &mut Striper, start: u64, length: u32) -> Range<u64> {
        let acked = striper.acked;
        let Some(binding) = self.bindings.at(start) else { return acked..acked };
        let carried = binding.carried();
        if binding.hold != Hold::None && carried.end > acked {
            return carried.start.max(acked)..carried.end;
        }
        if !binding.ambiguous {
            // The pipe holds its only transmission for lost: nobody need wait for it.
            striper.give_up(carried, self.id);
        }
        // Reported as arrived or not: what it carries now may get lost without anybody noticing.
        (binding.ambiguous, binding.arrived) = (true, false);
        // Into the dark goes a copy: what a silent pipe alone held would wait for its next timeout, each twice as long.
        let data = if self.silent { striper.lowest(length) } else { striper.bind(self.id, length, true) };
        let counters = &mut striper.counters;
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
