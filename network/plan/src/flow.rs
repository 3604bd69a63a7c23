//! Flows: who sends what to whom, and with which transport.
use crate::{LinkId, NodeId, TcpSettings, Traffic, Transport};
use alloc::string::String;
use alloc::vec::Vec;
use prismux_units::{ByteCount, Duration};

/// Traffic between two nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Flow {
    /// Name, unique among the flows of a plan.
    pub name: String,
    /// The name that equal flows have in common; the flow's own where it stands alone.
    pub group: String,
    /// Where the data comes from (for [`Traffic::RequestResponse`]: who asks).
    pub from: NodeId,
    /// Where it goes (who answers).
    pub to: NodeId,
    /// How it travels.
    pub transport: Transport,
    /// What travels.
    pub traffic: Traffic,
    /// The member it goes through, past the proxy; `None` leaves the path to routing.
    pub via: Option<NodeId>,
    /// The access links to use, one for each pipe: each ends at `from`, at `to`, or at both. Empty leaves the path to
    /// routing; for transports of several pipes it means every link of the multi-homed end.
    pub links: Vec<LinkId>,
    /// Switches of the TCP at its ends, and of whatever runs TCP's engine.
    pub tcp: TcpSettings,
    /// When it starts.
    pub start: Duration,
    /// When it is cut off, if before the end of the run.
    pub stop: Option<Duration>,
    /// So long after its start its application wants the file to have arrived.
    pub deadline: Option<Duration>,
}

impl Flow {
    /// Data without end, or datagrams as `transport` has them, from the start of the run to its end.
    pub fn new(name: &str, from: NodeId, to: NodeId, transport: Transport) -> Self {
        Self {
            name: name.into(),
            group: name.into(),
            from,
            to,
            transport,
            traffic: Traffic::ENDLESS,
            via: None,
            links: Vec::new(),
            tcp: TcpSettings::default(),
            start: Duration::ZERO,
            stop: None,
            deadline: None,
        }
    }

    /// A file of `bytes`.
    #[must_use]
    pub fn bytes(self, bytes: ByteCount) -> Self {
        self.traffic(Traffic::bulk(Some(bytes)))
    }

    /// Other traffic than a file.
    #[must_use]
    pub fn traffic(self, traffic: Traffic) -> Self {
        Self { traffic, ..self }
    }

    /// Through one member's links, past the proxy.
    #[must_use]
    pub fn via(self, member: NodeId) -> Self {
        Self { via: Some(member), ..self }
    }

    /// Over these access links.
    #[must_use]
    pub fn over(self, links: &[LinkId]) -> Self {
        Self { links: links.to_vec(), ..self }
    }

    /// With other switches of TCP.
    #[must_use]
    pub fn tcp(self, tcp: TcpSettings) -> Self {
        Self { tcp, ..self }
    }

    /// Starting `at`.
    #[must_use]
    pub fn start_at(self, at: Duration) -> Self {
        Self { start: at, ..self }
    }

    /// Cut off `at`.
    #[must_use]
    pub fn stop_at(self, at: Duration) -> Self {
        Self { stop: Some(at), ..self }
    }

    /// Bytes of the file, when the flow carries one that ends.
    pub fn file_bytes(&self) -> Option<ByteCount> {
        match self.traffic {
            Traffic::Bulk { bytes, .. } => bytes,
            _ => None,
        }
    }
}
