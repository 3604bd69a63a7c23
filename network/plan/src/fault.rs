//! What can be wrong with a plan, as values: where, what was found, what was expected, what to do.
mod cell;

pub use cell::CellProblem;

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use prismux_units::Duration;

/// Everything that is wrong with a plan; never empty.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanError {
    /// The faults, in the order of the plan.
    pub faults: Vec<Fault>,
}

/// One thing that is wrong with a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// The part that it is about.
    pub part: Part,
    /// The setting of that part, as scenario files call it; `None` for the part as a whole.
    pub key: Option<&'static str>,
    /// What is wrong.
    pub problem: Problem,
}

/// A part of a plan, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// A node.
    Node(String),
    /// A link.
    Link(String),
    /// A shared medium.
    Medium(String),
    /// A flow.
    Flow(String),
    /// A pipe of a flow.
    Pipe {
        /// The flow.
        flow: String,
        /// The pipe.
        pipe: String,
    },
    /// A program.
    Program(String),
    /// The event at this position of the list.
    Event(usize),
}

/// What is wrong. Names are those of nodes, links and flows.
#[derive(Debug, Clone, PartialEq)]
pub enum Problem {
    /// Two parts of one kind have this name.
    DuplicateName(String),
    /// A reference to a part that the plan does not have; "node", "link" or "flow".
    Missing(&'static str),
    /// A link leads from this node to itself.
    LinkToItself(String),
    /// A medium with fewer than two different nodes on it, or with one of them twice.
    LonelyMedium,
    /// A radio whose hosts and movements are not equally many.
    HostsWithoutPlaces {
        /// Hosts on the air.
        hosts: usize,
        /// Movements.
        places: usize,
    },
    /// A radio is to be tuned of a node that has none.
    NotOnTheAir(String),
    /// A radio is to be tuned to no channel, or while base stations, slots or polling decide.
    Untunable(String),
    /// Further radios that cannot be: why.
    BadRadios(&'static str),
    /// No channels lead from the flow's sender to its receiver, both of which are on one air and have no links.
    NoCommonChannel {
        /// Sender.
        from: String,
        /// Receiver.
        to: String,
        /// Channels of the sender.
        channels: Vec<u8>,
    },
    /// Base stations that cannot be: why.
    BadCells(&'static str),
    /// A cell in slots that cannot be.
    Cell(CellProblem),
    /// A flow goes from this node to itself.
    FlowToItself(String),
    /// No links lead from the flow's sender to its receiver.
    Unreachable {
        /// Sender.
        from: String,
        /// Receiver.
        to: String,
        /// Nodes that links do lead to.
        near: Vec<String>,
        /// Whether hosts that are on the air could reach it there.
        by_air: bool,
    },
    /// A program without a word.
    NothingToRun,
    /// The flow or program starts when the run is over.
    StartsAfterRun {
        /// Its start.
        start: Duration,
        /// End of the run.
        end: Duration,
    },
    /// The flow or program stops before it starts.
    StopsBeforeStart {
        /// Start.
        start: Duration,
        /// Stop.
        stop: Duration,
    },
    /// The transport does not carry this kind of traffic; both by name, with the kinds it does carry.
    WrongPattern {
        /// Name of the traffic's pattern.
        pattern: &'static str,
        /// Name of the transport.
        transport: &'static str,
        /// Patterns that it carries.
        possible: Vec<&'static str>,
    },
    /// A shape of Pareto's law without a mean.
    ShapeWithoutMean(f64),
    /// Datagrams without room for their headers, or without a rate.
    EmptyDatagrams,
    /// Requests or responses without a byte.
    EmptyExchange,
    /// Writes without a byte, or without time between them.
    EmptyWrites,
    /// A receiver that writes back after no byte.
    EmptyUpdates,
    /// A receiver that writes back over a transport that carries nothing that way.
    UpdatesWithoutTcp {
        /// Name of the transport.
        transport: &'static str,
    },
    /// TCP-PRISM without a proxy to listen to.
    PrismWithoutProxy,
    /// `via` is not a member; the members there are.
    ViaIsNoMember {
        /// The node that was named.
        node: String,
        /// Members.
        members: Vec<String>,
    },
    /// TCP-PRISM past the proxy.
    PrismPastProxy,
    /// An access link that the flow's ends do not have.
    ForeignLink {
        /// The link.
        link: String,
        /// The flow's ends, or those of its pipe.
        ends: [String; 2],
    },
    /// Coupled pipes with a congestion control that has no increase to couple.
    NothingToCouple,
    /// Loss notification for a striping application over RCP, whose simulated receivers hear of no damage.
    DeafToDamage,
    /// Several access links for a transport with one pipe.
    LinksForOnePipe(usize),
    /// More access links than a connection has pipes.
    TooManyLinks {
        /// How many.
        found: usize,
        /// How many there may be.
        max: usize,
    },
    /// A transport of named pipes without one.
    NoPipes,
    /// A pipe's server is not another host.
    BadServer {
        /// The server.
        server: String,
        /// The flow's receiver.
        to: String,
    },
    /// No links lead from a pipe's server to the receiver.
    UnreachableServer {
        /// The server.
        server: String,
        /// The flow's receiver.
        to: String,
    },
    /// A pipe is tied to a link that neither its server nor the receiver has.
    ForeignPipeLink {
        /// The link.
        link: String,
        /// The server.
        server: String,
        /// The flow's receiver.
        to: String,
    },
    /// A proxy without members.
    NoMembers(String),
    /// A proxy names this node, which is no member.
    NotAMember(String),
    /// No links lead from a proxy to its member.
    UnreachableMember {
        /// The proxy.
        proxy: String,
        /// The member.
        member: String,
    },
    /// A member joins when it is in the community.
    JoinsInside {
        /// The member.
        member: String,
        /// When.
        at: Duration,
    },
    /// A member leaves when it is not in the community.
    LeavesOutside {
        /// The member.
        member: String,
        /// When.
        at: Duration,
    },
    /// An event is about a node of another kind than it needs.
    WrongKind {
        /// The node.
        node: String,
        /// "a member", "a host", "a member, a proxy or ...".
        wanted: &'static str,
        /// Nodes of that kind.
        candidates: Vec<String>,
    },
    /// A flow is to sleep whose receiver does not decide what is sent to it.
    Sleepless {
        /// The flow.
        flow: String,
        /// Name of its transport.
        transport: &'static str,
    },
    /// A host is handed over to a link that does not end at it.
    ForeignHandoff {
        /// The host.
        host: String,
        /// The link.
        link: String,
        /// Links of the host.
        own: Vec<String>,
    },
}

/// Names as "a, b or c".
pub(crate) fn list_of<T: AsRef<str>>(names: &[T]) -> String {
    match names {
        [] => "nothing".to_owned(),
        [one] => one.as_ref().to_owned(),
        [rest @ .., last] => {
            let rest: Vec<&str> = rest.iter().map(AsRef::as_ref).collect();
            format!("{} or {}", rest.join(", "), last.as_ref())
        }
    }
}

impl Part {
    /// What kind of part it is.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Node(_) => "node",
            Self::Link(_) => "link",
            Self::Medium(_) => "medium",
            Self::Flow(_) => "flow",
            Self::Pipe { .. } => "pipe",
            Self::Program(_) => "program",
            Self::Event(_) => "event",
        }
    }

    /// Its path in a scenario file.
    pub fn path(&self) -> String {
        match self {
            Self::Node(name) => format!("nodes.{name}"),
            Self::Link(name) => format!("links.{name}"),
            Self::Medium(name) => format!("media.{name}"),
            Self::Flow(name) => format!("flows.{name}"),
            Self::Pipe { flow, pipe } => format!("flows.{flow}.pipes.{pipe}"),
            Self::Program(name) => format!("programs.{name}"),
            Self::Event(index) => format!("events.{index}"),
        }
    }
}

impl Fault {
    /// The path of the part, or of its setting, in a scenario file.
    pub fn path(&self) -> String {
        match self.key {
            Some(key) => format!("{}.{key}", self.part.path()),
            None => self.part.path(),
        }
    }

    /// What was found.
    pub fn found(&self) -> String {
        match &self.problem {
            Problem::DuplicateName(name) if self.part.kind() == "medium" => {
                format!("two media are called \"{name}\"")
            }
            Problem::DuplicateName(name) => format!("two {}s are called \"{name}\"", self.part.kind()),
            problem => problem.found(),
        }
    }

    /// What was expected in its place.
    pub fn expected(&self) -> String {
        match &self.problem {
            Problem::DuplicateName(_) => format!("every {} with a name of its own", self.part.kind()),
            problem => problem.expected(),
        }
    }

    /// What to do, where that can be said.
    pub fn remedy(&self) -> Option<String> {
        match (&self.problem, &self.part) {
            (Problem::DuplicateName(_), Part::Flow(_)) => {
                Some("flows with a count are called NAME-1, NAME-2, ...; rename one".to_string())
            }
            (Problem::DuplicateName(_), _) => Some("rename one".to_string()),
            (problem, _) => problem.remedy(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}\n  expected: {}", self.path(), self.found(), self.expected())?;
        match self.remedy() {
            Some(remedy) => write!(f, "\n  remedy: {remedy}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.faults.iter().enumerate() {
            let gap = if index > 0 { "\n\n" } else { "" };
            write!(f, "{gap}{fault}")?;
        }
        Ok(())
    }
}

impl core::error::Error for PlanError {}
