//! Which bytes of the connection each virtual segment of a pipe stands for.
use alloc::collections::VecDeque;
use core::ops::Range;

/// What a virtual segment has to do with the bytes it last carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hold {
    /// The bytes are bound to this pipe and to no other.
    Owner,
    /// The bytes are bound to another pipe, or will be; this pipe repeats them as its probe (redundant striping).
    Copy,
    /// The bytes have been unbound: the next transmission takes others.
    None,
}

/// One outstanding virtual segment, and the bytes of the connection that it carried last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Binding {
    /// First position in the pipe's stream.
    pub start: u64,
    /// Length in the pipe's stream.
    pub length: u32,
    /// First byte of the connection's stream that the last transmission carried, and how many.
    pub data: u64,
    pub bytes: u32,
    pub hold: Hold,
    /// Transmissions have carried different bytes: an acknowledgement does not say which arrived.
    pub ambiguous: bool,
    /// Reported as arrived ahead of others; what that means for the bytes has been settled.
    pub arrived: bool,
}

impl Binding {
    fn end(&self) -> u64 {
        self.start + u64::from(self.length)
    }

    /// The bytes last carried.
    pub(crate) fn carried(&self) -> Range<u64> {
        self.data..self.data + u64::from(self.bytes)
    }
}

/// The outstanding virtual segments of a pipe, in order and without gaps.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bindings {
    list: VecDeque<Binding>,
    next: u64,
}

impl Bindings {
    /// First position not sent.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Binding> {
        self.list.iter()
    }

    /// A new virtual segment was sent with `data`.
    pub(crate) fn push(&mut self, data: Range<u64>) {
        let bytes = (data.end - data.start) as u32;
        self.list.push_back(Binding {
            start: self.next,
            length: bytes,
            data: data.start,
            bytes,
            hold: Hold::Owner,
            ambiguous: false,
            arrived: false,
        });
        self.next += u64::from(bytes);
    }

    /// The segment that holds `position`.
    pub(crate) fn at(&mut self, position: u64) -> Option<&mut Binding> {
        let index = self.list.partition_point(|binding| binding.end() <= position);
        self.list.get_mut(index).filter(|binding| binding.start <= position)
    }

    /// Everything before `position` has arrived on this pipe: hands over what that acknowledges.
    pub(crate) fn acknowledge(&mut self, position: u64, mut settled: impl FnMut(Binding)) {
        while let Some(binding) = self.list.front_mut() {
            if binding.end() > position {
                // A receiver that takes half a segment: the rest stays, with the bytes that belong to it.
                let cut = position.saturating_sub(binding.start) as u32;
                if cut > 0 {
                    binding.start = position;
                    binding.length -= cut;
                    let carried = cut.min(binding.bytes);
                    let head = Binding { bytes: carried, ..*binding };
                    binding.data += u64::from(carried);
                    binding.bytes -= carried;
                    if !binding.arrived {
                        settled(head);
                    }
                }
                return;
            }
            let binding = *binding;
            self.list.pop_front();
            if !binding.arrived {
                settled(binding);
            }
        }
    }

    /// `range` of the pipe's stream has arrived ahead of what is before it. Segments are looked at from both ends of
    /// the range inwards as far as they are news, since ranges grow at their ends.
    pub(crate) fn arrived(&mut self, range: Range<u64>, mut settled: impl FnMut(Binding)) {
        let first = self.list.partition_point(|binding| binding.start < range.start);
        let last = self.list.partition_point(|binding| binding.end() <= range.end);
        let mut mark = |binding: &mut Binding| {
            let news = !binding.arrived;
            if news {
                binding.arrived = true;
                settled(*binding);
                binding.hold = Hold::None;
            }
            news
        };
        if first >= last {
            return;
        }
        for index in (first..last).rev() {
            if !mark(&mut self.list[index]) {
                break;
            }
        }
        for index in first..last {
            if !mark(&mut self.list[index]) {
                break;
            }
        }
    }

    /// Unbinds what lies beyond the first `window` positions that have not arrived. With `copy_first` the first such
    /// segment is given away too, and kept as a copy; says whether it was.
    pub(crate) fn shrink(
        &mut self,
        window: u64,
        copy_first: bool,
        mut unbound: impl FnMut(Range<u64>),
    ) -> bool {
        let mut room = window;
        let (mut first, mut copied) = (true, false);
        for binding in self.list.iter_mut().filter(|binding| !binding.arrived) {
            let inside = u64::from(binding.length) <= room;
            room = room.saturating_sub(u64::from(binding.length));
            let kept = inside || first;
            if binding.hold == Hold::Owner && (!kept || (first && copy_first)) {
                binding.hold = if kept { Hold::Copy } else { Hold::None };
                copied |= kept;
                unbound(binding.carried());
            }
            first = false;
        }
        copied
    }

    /// The pipe is gone: everything it held is free.
    pub(crate) fn release(&mut self, mut unbound: impl FnMut(Range<u64>)) {
        for binding in self.list.drain(..).filter(|binding| binding.hold == Hold::Owner) {
            unbound(binding.carried());
        }
    }
}

#[cfg(test)]
mod tests;
