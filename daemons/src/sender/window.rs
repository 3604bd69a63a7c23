//! What the programs remember of a connection, and the arithmetic on its window that several of them need.
use super::counters::Counter;
use prismux_linux::bpf::assembly::{
    Assembly, Condition, FRAME, Label, Operation, R0, R1, R2, R3, R4, R6, R7, R8, R9, Register, Width,
};

/// Words that the kernel keeps for a connection, from its first accepted report on, by their offsets.
pub(super) mod note {
    /// Part of the window to keep for reports not yet acted upon, in 65,536ths; 0 without any.
    pub const PENDING: i16 = 0;
    /// Highest lost segment of these.
    pub const PENDING_LOST: i16 = 4;
    /// Up to here recoveries are those that reports have decreased the window for.
    pub const GOVERNED: i16 = 8;
    /// Least window that reports may leave, in segments, and up to where it holds.
    pub const FLOOR: i16 = 12;
    pub const FLOOR_END: i16 = 16;
    pub const FLAGS: i16 = 20;
    /// What was sent before the last timeout.
    pub const TIMEOUT_END: i16 = 24;
    /// For each link, up to where its last decrease stands.
    pub const LINKS: i16 = 32;
    /// With 256 links, as many as a report can name.
    pub const WORDS: u32 = 8 + 256;
}

/// Bits of [`note::FLAGS`].
pub(super) mod flag {
    /// The connection has the congestion control.
    pub const ADOPTED: i32 = 1;
    /// A timeout or a mark of congestion: the next decrease is an ordinary one.
    pub const ORDINARY: i32 = 2;
}

/// `bpf_sk_storage_get`.
pub(super) const STORAGE: i32 = 107;
/// A keep factor of one.
const ONE_BITS: i32 = 16;
/// The least window, in segments.
const LEAST: i32 = 2;

/// Places in the stack for what [`apply`] is given, and gives.
pub(super) const BASE: i16 = -8;
pub(super) const KEPT: i16 = -16;

/// The maps, and how the kernel at hand lays out a connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surroundings {
    /// Descriptor of the map of notes.
    pub notes: i32,
    /// Descriptor of the map of counters.
    pub counts: i32,
    pub acknowledged: i16,
    pub next: i16,
    pub window: i16,
    pub threshold: i16,
    pub state: i16,
    /// Bits of the byte at `state`.
    pub state_mask: i32,
}

/// Counts one.
pub(super) fn count(program: &mut Assembly, surroundings: &Surroundings, counter: Counter) {
    program.set(R2, 1);
    add(program, surroundings, counter);
}

/// Adds [`R2`] to a counter.
pub(super) fn add(program: &mut Assembly, surroundings: &Surroundings, counter: Counter) {
    program.map_value(R1, surroundings.counts, counter.offset());
    program.add_atomically(R1, 0, R2);
}

/// [`R7`] points to the notes of the connection in [`R2`], or is 0.
pub(super) fn find_notes(program: &mut Assembly, surroundings: &Surroundings, make: bool) {
    program.map(R1, surroundings.notes);
    program.set(R3, 0);
    program.set(R4, i32::from(make));
    program.call(STORAGE);
    program.set(R7, R0);
}

/// Goes on at `outside` unless the sequence number in the note at `end` lies behind the acknowledged ([`R8`]) and not
/// beyond the next to be sent ([`R9`]): a number from an earlier turn of the sequence space does not count.
pub(super) fn unless_ahead(program: &mut Assembly, base: Register, end: i16, outside: Label) {
    program.load(Width::Word, R1, base, end);
    program.compute_32(Operation::Subtract, R1, R8);
    program.compute_32(Operation::Subtract, R1, 1);
    program.set(R2, R9);
    program.compute_32(Operation::Subtract, R2, R8);
    program.jump_if_32(R1, Condition::NotBelow, R2, outside);
}

/// A window of fewer than [`LEAST`] segments is none.
fn at_least(program: &mut Assembly, register: Register) {
    let enough = program.label();
    program.jump_if(register, Condition::NotBelow, LEAST, enough);
    program.set(register, LEAST);
    program.place(enough);
}

/// Reports of this window leave at least half of what it is now, as one loss does: the product of all factors of an
/// honest proxy is never less, because its links' shares add up to one.
pub(super) fn set_floor(program: &mut Assembly, surroundings: &Surroundings) {
    program.load(Width::Word, R1, R6, surroundings.window);
    program.compute(Operation::ShiftDown, R1, 1);
    at_least(program, R1);
    program.store(Width::Word, R7, note::FLOOR, R1);
    program.store(Width::Word, R7, note::FLOOR_END, R9);
}

/// Decreases what stands at [`BASE`] by what reports say; the result stands at [`KEPT`]. `forget` is one of the
/// kernel's functions that lets its growth begin anew from here.
///
/// Needs the connection in [`R6`], its notes in [`R7`], what is acknowledged and next in [`R8`] and [`R9`].
pub(super) fn apply(program: &mut Assembly, surroundings: &Surroundings, forget: Option<u32>) {
    let (fresh, ready) = (program.label(), program.label());
    unless_ahead(program, R7, note::FLOOR_END, fresh);
    program.jump(ready);
    program.place(fresh);
    set_floor(program, surroundings);
    program.place(ready);
    program.load(Width::Double, R1, FRAME, BASE);
    program.load(Width::Word, R2, R7, note::PENDING);
    program.compute(Operation::Multiply, R1, R2);
    program.compute(Operation::Add, R1, 1 << (ONE_BITS - 1));
    program.compute(Operation::ShiftDown, R1, ONE_BITS);
    let (high_enough, low_enough) = (program.label(), program.label());
    program.load(Width::Word, R2, R7, note::FLOOR);
    program.jump_if(R1, Condition::NotBelow, R2, high_enough);
    program.set(R1, R2);
    program.place(high_enough);
    program.load(Width::Double, R2, FRAME, BASE);
    program.jump_if(R2, Condition::NotBelow, R1, low_enough);
    program.set(R1, R2);
    program.place(low_enough);
    at_least(program, R1);
    program.store(Width::Double, FRAME, KEPT, R1);
    program.store(Width::Word, R7, note::PENDING, 0);
    program.store(Width::Word, R7, note::GOVERNED, R9);
    program.set(R2, R1);
    program.compute(Operation::ShiftUp, R2, ONE_BITS);
    program.load(Width::Double, R3, FRAME, BASE);
    program.compute(Operation::Divide, R2, R3);
    add(program, surroundings, Counter::KeptSum);
    count(program, surroundings, Counter::Proportional);
    if let Some(forget) = forget {
        program.set(R1, R6);
        program.call_kernel(forget);
    }
}
