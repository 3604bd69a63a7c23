//! Requests and responses, in turn, over one TCP connection.
use super::endpoint::{Client, CustomParts, Role};
use super::pair;
use crate::flows::transport::{Built, BuiltFlow, FlowBuild, SegmentShape, Transport};
use prismux_tcp::TcpConfig;
use prismux_units::{Duration, Instant};

/// A client that asks and a server that answers, in turn, over one connection.
#[derive(Debug, Clone)]
pub struct RequestResponse {
    /// Switches of both ends.
    pub tcp: TcpConfig,
    /// Bytes of a request.
    pub request_bytes: u64,
    /// Bytes of a response.
    pub response_bytes: u64,
    /// Time between a response and the next request.
    pub think: Duration,
    /// How many; without end when `None`.
    pub exchanges: Option<u64>,
}

impl Transport for RequestResponse {
    fn name(&self) -> &str {
        "request-response"
    }

    fn segment(&self) -> Option<SegmentShape> {
        Some(SegmentShape::agreed(&self.tcp, &self.tcp))
    }

    fn has_end(&self, _: Option<u64>) -> bool {
        self.exchanges.is_some()
    }

    fn build(&self, build: &mut FlowBuild<'_>) -> BuiltFlow {
        let &Self { request_bytes, response_bytes, think, exchanges, .. } = self;
        let client = Client {
            request_bytes,
            response_bytes,
            think,
            exchanges: exchanges.unwrap_or(u64::MAX),
            asked: 0,
            asked_at: Instant::ZERO,
            answered: 0,
            waited: Box::default(),
        };
        let server = Role::Server { request_bytes, response_bytes, answered: 0 };
        let ends = [(&self.tcp, Role::Client(client)), (&self.tcp, server)];
        BuiltFlow(Built::Tcp(Box::new(pair(build, ends, CustomParts::default()))))
    }
}
