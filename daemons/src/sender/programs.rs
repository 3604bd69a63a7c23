//! The program that is told of the events of sockets. All programs here may be used under the GPL, version 2, too, as
//! the kernel demands of programs that call its functions; that is what [`LICENCE`] tells it.
//!
//! It shares the notes of a connection (`window`) with the congestion control (`control`): this one finds reports in
//! arriving segments, after the kernel has found these in the window; the other decreases, when the kernel asks for it.
use super::CONGESTION_CONTROL;
use super::counters::Counter;
use super::window::{Surroundings, count, find_notes, flag, note, unless_ahead};
use prismux_linux::bpf::assembly::{
    Assembly, Condition, FRAME, Label, Operation, R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, Width,
};
use prismux_wire::{KeepFactor, LOSS_REPORT_EXPERIMENT};
use std::ffi::CStr;

/// What the kernel is told of the programs' licence.
pub(super) const LICENCE: &CStr = c"Dual MIT/GPL";

/// Fields of `struct bpf_sock_ops`, which is the same in all kernels.
mod event {
    pub const WHICH: i16 = 0;
    pub const FLAGS: i16 = 84;
    pub const NEXT: i16 = 104;
    pub const ACKNOWLEDGED: i16 = 108;
    pub const SOCKET: i16 = 184;
    pub const SEGMENT: i16 = 192;
    pub const SEGMENT_END: i16 = 200;
    /// Values of `WHICH`: a connection is there, actively or passively; its timer ran out; an option nobody knows.
    pub const CONNECTED: i32 = 4;
    pub const ACCEPTED: i32 = 5;
    pub const TIMEOUT: i32 = 8;
    pub const OPTION: i32 = 13;
    /// Bits of `FLAGS`: be told of timeouts, and of options that the kernel does not know.
    pub const TELL_TIMEOUTS: i32 = 1;
    pub const TELL_OPTIONS: i32 = 32;
}

/// Helpers, by number.
mod helper {
    pub const SET_OPTION: i32 = 49;
    pub const GET_OPTION: i32 = 57;
    pub const SET_FLAGS: i32 = 59;
    pub const LOAD_OPTION: i32 = 142;
}

/// Bytes of a report, and the kind of its option (`prismux_wire` has its layout).
const REPORT_BYTES: i32 = 12;
const REPORT_KIND: u16 = 253;
const NOT_THERE: i32 = -libc::ENOMSG;
/// Where in the stack the report lies, and a congestion control's name.
const REPORT: i16 = -16;
const NAME: i16 = -32;
const NAME_BYTES: i32 = 16;

/// Finds reports in what arrives.
pub(super) fn socket_events(surroundings: &Surroundings) -> Option<Vec<u64>> {
    let mut p = Assembly::new();
    let (connected, option, end) = (p.label(), p.label(), p.label());
    p.set(R6, R1);
    p.load(Width::Word, R1, R6, event::WHICH);
    p.jump_if(R1, Condition::Equal, event::CONNECTED, connected);
    p.jump_if(R1, Condition::Equal, event::ACCEPTED, connected);
    p.jump_if(R1, Condition::Equal, event::OPTION, option);
    p.jump_if(R1, Condition::Differs, event::TIMEOUT, end);
    note_timeout(&mut p, surroundings, end);
    p.jump(end);
    p.place(connected);
    add_flags(&mut p, event::TELL_OPTIONS);
    p.jump(end);
    p.place(option);
    read_report(&mut p, surroundings, end);
    adopt(&mut p, surroundings, end);
    take_in(&mut p, surroundings, end);
    p.place(end);
    p.set(R0, 1);
    p.exit();
    p.finish()
}

fn add_flags(p: &mut Assembly, flags: i32) {
    p.load(Width::Word, R2, R6, event::FLAGS);
    p.compute(Operation::Or, R2, flags);
    p.set(R1, R6);
    p.call(helper::SET_FLAGS);
}

/// The notes of the event's connection, in R7.
fn notes_of_event(p: &mut Assembly, surroundings: &Surroundings, make: bool, end: Label) {
    p.load(Width::Double, R2, R6, event::SOCKET);
    p.jump_if(R2, Condition::Equal, 0, end);
    find_notes(p, surroundings, make);
    p.jump_if(R7, Condition::Equal, 0, end);
}

/// A timeout counts as a decrease for every link, and is an ordinary one.
fn note_timeout(p: &mut Assembly, surroundings: &Surroundings, end: Label) {
    notes_of_event(p, surroundings, false, end);
    p.load(Width::Word, R1, R6, event::NEXT);
    p.store(Width::Word, R7, note::TIMEOUT_END, R1);
    p.store(Width::Word, R7, note::PENDING, 0);
    p.load(Width::Word, R1, R7, note::FLAGS);
    p.compute(Operation::Or, R1, flag::ORDINARY);
    p.store(Width::Word, R7, note::FLAGS, R1);
}

/// Reads the report to the stack and refuses what no proxy may say: R8 and R9 hold what is acknowledged and next to be
/// sent.
fn read_report(p: &mut Assembly, surroundings: &Surroundings, end: Label) {
    let (whole, lawful, outstanding, malformed, other) =
        (p.label(), p.label(), p.label(), p.label(), p.label());
    // What to look for: kind, length of this pattern, the experiment's identifier.
    let [high, low] = LOSS_REPORT_EXPERIMENT.to_be_bytes();
    let pattern = [REPORT_KIND as u8, 4, high, low];
    p.store(Width::Word, FRAME, REPORT, i32::from_ne_bytes(pattern));
    p.store(Width::Word, FRAME, REPORT + 4, 0);
    p.store(Width::Word, FRAME, REPORT + 8, 0);
    p.set(R1, R6);
    p.set(R2, FRAME);
    p.compute(Operation::Add, R2, i32::from(REPORT));
    p.set(R3, REPORT_BYTES);
    p.set(R4, 0);
    p.call(helper::LOAD_OPTION);
    p.jump_if(R0, Condition::Equal, NOT_THERE, end);
    p.jump_if(R0, Condition::Equal, REPORT_BYTES, whole);
    p.place(malformed);
    count(p, surroundings, Counter::Malformed);
    p.jump(end);
    p.place(whole);
    p.load(Width::Half, R1, FRAME, REPORT + 6);
    p.from_network_order(R1, 16);
    p.jump_if(R1, Condition::NotBelow, i32::from(KeepFactor::HALF.0), lawful);
    p.jump(malformed);
    p.place(lawful);
    p.load(Width::Word, R8, R6, event::ACKNOWLEDGED);
    p.load(Width::Word, R9, R6, event::NEXT);
    // The segment must be out, and not be acknowledged by the ACK that brings the report.
    p.load(Width::Word, R3, FRAME, REPORT + 8);
    p.from_network_order(R3, 32);
    p.store(Width::Word, FRAME, REPORT + 8, R3);
    p.set(R1, R3);
    p.compute_32(Operation::Subtract, R1, R8);
    p.set(R2, R9);
    p.compute_32(Operation::Subtract, R2, R8);
    p.jump_if_32(R1, Condition::NotBelow, R2, other);
    p.load(Width::Double, R4, R6, event::SEGMENT);
    p.load(Width::Double, R5, R6, event::SEGMENT_END);
    p.set(R1, R4);
    p.compute(Operation::Add, R1, 20);
    p.jump_if(R1, Condition::Above, R5, end);
    p.load(Width::Word, R1, R4, 8);
    p.from_network_order(R1, 32);
    p.compute_32(Operation::Subtract, R3, R1);
    p.jump_if_32(R3, Condition::Less, 0, other);
    p.jump(outstanding);
    p.place(other);
    count(p, surroundings, Counter::NotOutstanding);
    p.jump(end);
    p.place(outstanding);
}

/// Has the connection go over to our congestion control, if its own decreases at losses as ours does without reports.
fn adopt(p: &mut Assembly, surroundings: &Surroundings, end: Label) {
    let (ours, like_ours, adopted) = (p.label(), p.label(), p.label());
    let option = |p: &mut Assembly, helper: i32, bytes: i32| {
        p.set(R1, R6);
        p.set(R2, libc::SOL_TCP);
        p.set(R3, libc::TCP_CONGESTION);
        p.set(R4, FRAME);
        p.compute(Operation::Add, R4, i32::from(NAME));
        p.set(R5, bytes);
        p.call(helper);
    };
    // Room is made only for a connection that is ours to decide about.
    p.store(Width::Double, FRAME, NAME, 0);
    p.store(Width::Double, FRAME, NAME + 8, 0);
    option(p, helper::GET_OPTION, NAME_BYTES);
    p.load(Width::Word, R1, FRAME, NAME);
    for name in [*b"cubi", *b"reno", *b"pris"] {
        p.jump_if_32(R1, Condition::Equal, i32::from_ne_bytes(name), like_ours);
    }
    count(p, surroundings, Counter::OtherControl);
    p.jump(end);
    p.place(like_ours);
    notes_of_event(p, surroundings, true, end);
    p.load(Width::Word, R1, R7, note::FLAGS);
    p.jump_if(R1, Condition::Shares, flag::ADOPTED, ours);
    let mut name = CONGESTION_CONTROL.bytes();
    for at in (0..NAME_BYTES as i16).step_by(4) {
        let word = [(); 4].map(|()| name.next().unwrap_or(0));
        p.store(Width::Word, FRAME, NAME + at, i32::from_ne_bytes(word));
    }
    option(p, helper::SET_OPTION, NAME_BYTES);
    p.jump_if(R0, Condition::Equal, 0, adopted);
    count(p, surroundings, Counter::NotAdopted);
    p.jump(end);
    p.place(adopted);
    p.load(Width::Word, R1, R7, note::FLAGS);
    p.compute(Operation::Or, R1, flag::ADOPTED);
    p.store(Width::Word, R7, note::FLAGS, R1);
    count(p, surroundings, Counter::Adopted);
    add_flags(p, event::TELL_TIMEOUTS);
    p.place(ours);
}

/// Notes what the report asks for: once for each link and window.
fn take_in(p: &mut Assembly, surroundings: &Surroundings, end: Label) {
    let (no_timeout, due, first, deep_enough, later) =
        (p.label(), p.label(), p.label(), p.label(), p.label());
    unless_ahead(p, R7, note::TIMEOUT_END, no_timeout);
    count(p, surroundings, Counter::AfterTimeout);
    p.jump(end);
    p.place(no_timeout);
    // R6 held the event, which is needed no more; now it points to the link's note.
    p.load(Width::Byte, R6, FRAME, REPORT + 4);
    p.compute(Operation::ShiftUp, R6, 2);
    p.set(R1, R7);
    p.compute(Operation::Add, R1, R6);
    p.set(R6, R1);
    unless_ahead(p, R6, note::LINKS, due);
    count(p, surroundings, Counter::SameWindow);
    p.jump(end);
    p.place(due);
    p.store(Width::Word, R6, note::LINKS, R9);
    p.load(Width::Half, R1, FRAME, REPORT + 6);
    p.from_network_order(R1, 16);
    p.load(Width::Word, R3, FRAME, REPORT + 8);
    p.load(Width::Word, R2, R7, note::PENDING);
    p.jump_if(R2, Condition::Equal, 0, first);
    p.compute(Operation::Multiply, R1, R2);
    p.compute(Operation::ShiftDown, R1, 16);
    // A floor of half the window stands below it anyway.
    p.jump_if(R1, Condition::NotBelow, i32::from(KeepFactor::HALF.0), deep_enough);
    p.set(R1, i32::from(KeepFactor::HALF.0));
    p.place(deep_enough);
    p.load(Width::Word, R4, R7, note::PENDING_LOST);
    p.set(R5, R3);
    p.compute_32(Operation::Subtract, R5, R4);
    p.jump_if_32(R5, Condition::AtMost, 0, later);
    p.place(first);
    p.store(Width::Word, R7, note::PENDING_LOST, R3);
    p.place(later);
    p.store(Width::Word, R7, note::PENDING, R1);
    count(p, surroundings, Counter::Accepted);
}
