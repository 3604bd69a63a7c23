//! The congestion control: the kernel's own functions, and a decrease by what reports say.
use super::counters::Counter;
use super::window::{
    BASE, KEPT, Surroundings, apply, count, find_notes, flag, note, set_floor, unless_ahead,
};
use prismux_linux::bpf::assembly::{
    Assembly, Condition, FRAME, Label, Operation, R0, R1, R2, R3, R6, R7, R8, R9, Width,
};
use prismux_linux::bpf::type_info::TypeInfo;

/// `TCP_CA_CWR` and `TCP_CA_Loss`: from the first on the kernel is decreasing the window.
const DECREASING: i32 = 2;
const TIMED_OUT: i32 = 4;
/// `CA_ACK_ECE`: the ACK echoes a mark of congestion.
const ECHO: i32 = 4;

/// How the window grows, and what the kernel does without reports: its own functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Growth {
    Cubic { init: u32, decrease: u32, grow: u32, on_state: u32, on_event: u32, on_acked: u32, undo: u32 },
    Reno { decrease: u32, grow: u32, undo: u32 },
}

impl Growth {
    /// CUBIC, if the kernel lends its functions.
    pub(super) fn cubic(kernel: &TypeInfo) -> Option<Self> {
        Some(Self::Cubic {
            init: kernel.function("cubictcp_init")?,
            decrease: kernel.function("cubictcp_recalc_ssthresh")?,
            grow: kernel.function("cubictcp_cong_avoid")?,
            on_state: kernel.function("cubictcp_state")?,
            on_event: kernel.function("cubictcp_cwnd_event")?,
            on_acked: kernel.function("cubictcp_acked")?,
            undo: kernel.function("tcp_reno_undo_cwnd")?,
        })
    }

    /// Reno, which every kernel with such programs lends.
    pub(super) fn reno(kernel: &TypeInfo) -> Option<Self> {
        Some(Self::Reno {
            decrease: kernel.function("tcp_reno_ssthresh")?,
            grow: kernel.function("tcp_reno_cong_avoid")?,
            undo: kernel.function("tcp_reno_undo_cwnd")?,
        })
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Cubic { .. } => "cubic",
            Self::Reno { .. } => "reno",
        }
    }

    const fn decrease(self) -> u32 {
        match self {
            Self::Cubic { decrease, .. } | Self::Reno { decrease, .. } => decrease,
        }
    }

    /// What has CUBIC's growth begin anew from a decrease; Reno remembers nothing.
    const fn forget(self) -> Option<u32> {
        match self {
            Self::Cubic { decrease, .. } => Some(decrease),
            Self::Reno { .. } => None,
        }
    }
}

/// The members of the kernel's table of a congestion control that we fill.
pub(super) fn congestion_control(
    surroundings: &Surroundings,
    growth: Growth,
) -> Vec<(&'static str, Option<Vec<u64>>)> {
    let forward = |function, arguments| forward(function, arguments, None);
    let mut members = vec![
        ("ssthresh", decrease(surroundings, growth)),
        ("in_ack_event", on_ack(surroundings, growth)),
        ("release", forward_counted(surroundings, None, Counter::Ended)),
    ];
    match growth {
        Growth::Cubic { init, grow, on_state, on_event, on_acked, undo, .. } => members.extend([
            ("init", forward_counted(surroundings, Some(init), Counter::Begun)),
            ("cong_avoid", forward(grow, 3)),
            ("set_state", forward(on_state, 2)),
            ("cwnd_event", forward(on_event, 2)),
            ("pkts_acked", forward(on_acked, 2)),
            ("undo_cwnd", forward(undo, 1)),
        ]),
        Growth::Reno { grow, undo, .. } => members.extend([
            ("init", forward_counted(surroundings, None, Counter::Begun)),
            ("cong_avoid", forward(grow, 3)),
            ("undo_cwnd", forward(undo, 1)),
        ]),
    }
    members
}

/// A member that is one of the kernel's own functions with so many arguments.
fn forward(function: u32, arguments: usize, counted: Option<(&Surroundings, Counter)>) -> Option<Vec<u64>> {
    let mut p = Assembly::new();
    p.set(R6, R1);
    if let Some((surroundings, counter)) = counted {
        count(&mut p, surroundings, counter);
    }
    for (at, register) in [R1, R2, R3].into_iter().take(arguments).enumerate() {
        p.load(Width::Double, register, R6, 8 * at as i16);
    }
    p.call_kernel(function);
    // A function without a result leaves none behind.
    let returns = arguments == 1 && counted.is_none();
    if !returns {
        p.set(R0, 0);
    }
    p.exit();
    p.finish()
}

/// A member that counts, and goes on to one of the kernel's functions.
fn forward_counted(surroundings: &Surroundings, function: Option<u32>, counter: Counter) -> Option<Vec<u64>> {
    if let Some(function) = function {
        return forward(function, 1, Some((surroundings, counter)));
    }
    let mut p = Assembly::new();
    count(&mut p, surroundings, counter);
    p.set(R0, 0);
    p.exit();
    p.finish()
}

/// Loads the connection's numbers: R6 the connection, R7 its notes (0 without), R8 acknowledged, R9 next.
fn load_connection(p: &mut Assembly, surroundings: &Surroundings, without_notes: Label) {
    p.load(Width::Double, R6, R1, 0);
    p.set(R2, R6);
    find_notes(p, surroundings, false);
    p.jump_if(R7, Condition::Equal, 0, without_notes);
    p.load(Width::Word, R8, R6, surroundings.acknowledged);
    p.load(Width::Word, R9, R6, surroundings.next);
}

/// The kernel decreases the window: by what reports say, if there are any.
fn decrease(surroundings: &Surroundings, growth: Growth) -> Option<Vec<u64>> {
    let mut p = Assembly::new();
    let (plain, flagged, uncovered, reported) = (p.label(), p.label(), p.label(), p.label());
    load_connection(&mut p, surroundings, plain);
    p.load(Width::Word, R1, R7, note::FLAGS);
    p.jump_if(R1, Condition::Shares, flag::ORDINARY, flagged);
    p.load(Width::Word, R1, R7, note::PENDING);
    p.jump_if(R1, Condition::Differs, 0, reported);
    unless_ahead(&mut p, R7, note::GOVERNED, uncovered);
    count(&mut p, surroundings, Counter::Covered);
    p.load(Width::Word, R0, R6, surroundings.window);
    p.exit();
    p.place(flagged);
    p.compute(Operation::And, R1, !flag::ORDINARY);
    p.store(Width::Word, R7, note::FLAGS, R1);
    p.store(Width::Word, R7, note::PENDING, 0);
    p.place(uncovered);
    set_floor(&mut p, surroundings);
    p.place(plain);
    count(&mut p, surroundings, Counter::Ordinary);
    p.set(R1, R6);
    p.call_kernel(growth.decrease());
    p.exit();
    p.place(reported);
    p.load(Width::Word, R1, R6, surroundings.window);
    p.store(Width::Double, FRAME, BASE, R1);
    apply(&mut p, surroundings, growth.forget());
    p.load(Width::Double, R0, FRAME, KEPT);
    p.exit();
    p.finish()
}

/// Reports that the kernel will not ask about: those that come while it decreases already, and those of segments that
/// are acknowledged before it resends any.
fn on_ack(surroundings: &Surroundings, growth: Growth) -> Option<Vec<u64>> {
    let mut p = Assembly::new();
    let (end, unmarked, decreasing, timed_out) = (p.label(), p.label(), p.label(), p.label());
    p.load(Width::Word, R2, R1, 8);
    p.store(Width::Double, FRAME, BASE, R2);
    load_connection(&mut p, surroundings, end);
    p.load(Width::Word, R1, R7, note::FLAGS);
    p.compute(Operation::And, R1, !flag::ORDINARY);
    p.load(Width::Double, R2, FRAME, BASE);
    p.compute(Operation::And, R2, ECHO);
    p.jump_if(R2, Condition::Equal, 0, unmarked);
    p.compute(Operation::Or, R1, flag::ORDINARY);
    p.place(unmarked);
    p.store(Width::Word, R7, note::FLAGS, R1);
    p.load(Width::Word, R1, R7, note::PENDING);
    p.jump_if(R1, Condition::Equal, 0, end);
    p.load(Width::Byte, R1, R6, surroundings.state);
    p.compute(Operation::And, R1, surroundings.state_mask);
    p.jump_if(R1, Condition::NotBelow, TIMED_OUT, timed_out);
    p.jump_if(R1, Condition::NotBelow, DECREASING, decreasing);
    p.load(Width::Word, R2, R7, note::PENDING_LOST);
    p.set(R1, R8);
    p.compute_32(Operation::Subtract, R1, R2);
    p.jump_if_32(R1, Condition::AtMost, 0, end);
    p.load(Width::Word, R1, R6, surroundings.window);
    p.store(Width::Double, FRAME, BASE, R1);
    apply(&mut p, surroundings, growth.forget());
    p.load(Width::Double, R1, FRAME, KEPT);
    p.store(Width::Word, R6, surroundings.threshold, R1);
    p.store(Width::Word, R6, surroundings.window, R1);
    p.jump(end);
    p.place(decreasing);
    p.load(Width::Word, R1, R6, surroundings.threshold);
    p.store(Width::Double, FRAME, BASE, R1);
    apply(&mut p, surroundings, growth.forget());
    p.load(Width::Double, R1, FRAME, KEPT);
    p.store(Width::Word, R6, surroundings.threshold, R1);
    count(&mut p, surroundings, Counter::InRecovery);
    p.jump(end);
    p.place(timed_out);
    p.store(Width::Word, R7, note::PENDING, 0);
    p.place(end);
    p.set(R0, 0);
    p.exit();
    p.finish()
}
