//! Rules played to two connections without a network between them.

use crate::claims::Experiment;
use crate::claims::plan::Outcomes;
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use prismux_endpoint::Endpoint;
use prismux_endpoint::random::Seed;
use prismux_ptcp::{Connection, Path, PtcpConfig, Segment, SegmentOut, State};
use prismux_tcp::TcpConfig;
use prismux_units::{ByteCount, Duration, Instant};
use std::net::{IpAddr, Ipv4Addr};

pub(super) const RULES: Experiment = Experiment {
    id: "P7",
    title: "rules, played to two connections",
    claims: &["PT-020", "PT-021", "PT-022"],
    lab: true,
    jobs: |_| Ok(Vec::new()),
    judge,
};

/// Two connections; every segment arrives 10 ms after it left, except on pipes that are cut.
struct Stage {
    now: Instant,
    client: Connection,
    server: Option<Connection>,
    server_config: PtcpConfig,
    cut: Option<u8>,
    /// Data segments of the client so far.
    data: u64,
}

fn address(side: u8, pipe: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, side, 0, pipe + 1))
}

/// Segments of 1000 bytes, so much buffer per pipe; the receiver reads nothing.
fn config(pipes: u8, buffer: u64) -> PtcpConfig {
    let tcp = TcpConfig { receive_buffer: ByteCount::new(buffer), syn_retries: 2, ..TcpConfig::ns2_2002() };
    PtcpConfig::new(tcp, pipes)
}

impl Stage {
    fn new(client: PtcpConfig, server_config: PtcpConfig, cut: Option<u8>) -> Self {
        let locals: Vec<IpAddr> = (0..client.pipes).map(|pipe| address(0, pipe)).collect();
        let random = Seed(1).stream("client");
        let client = Connection::connect(client, &locals, address(1, 0), (1, 2), random, Instant::ZERO);
        Self { now: Instant::ZERO, client, server: None, server_config, cut, data: 0 }
    }

    /// Lets `steps` times 10 ms pass.
    fn run(&mut self, steps: u32) {
        for _ in 0..steps {
            let from_client: Vec<SegmentOut> =
                std::iter::from_fn(|| self.client.poll_transmit(self.now)).collect();
            let server = &mut self.server;
            let from_server: Vec<SegmentOut> =
                std::iter::from_fn(|| server.as_mut()?.poll_transmit(self.now)).collect();
            self.data += from_client.iter().filter(|out| out.segment.payload_bytes > 0).count() as u64;
            self.now += Duration::from_millis(10);
            for out in from_client {
                self.arrive(out.segment, true);
            }
            for out in from_server {
                self.arrive(out.segment, false);
            }
            for end in [Some(&mut self.client), self.server.as_mut()].into_iter().flatten() {
                while end.poll_event().is_some() {}
                if end.poll_timeout().is_some_and(|deadline| deadline.at <= self.now) {
                    end.handle_timeout(self.now);
                }
            }
        }
    }

    fn arrive(&mut self, segment: Segment, at_server: bool) {
        if self.cut == Some(segment.header.pipe) {
            return;
        }
        let path = Path { local: segment.path.remote, remote: segment.path.local };
        let segment = Segment { path, ..segment };
        match (at_server, &mut self.server) {
            (false, _) => self.client.handle_input(self.now, segment),
            (true, Some(server)) => server.handle_input(self.now, segment),
            (true, server @ None) => {
                let locals: Vec<IpAddr> = (0..8).map(|pipe| address(1, pipe)).collect();
                let random = Seed(1).stream("server");
                *server =
                    Connection::accept(self.server_config.clone(), &locals, &segment, random, self.now).ok();
            }
        }
    }
}

fn judge(_: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    // Three pipes with a window of two segments each; 1002 bytes of shared buffer.
    let mut shared = Stage::new(config(3, 334), config(3, 334), None);
    shared.run(50);
    shared.client.write(10_000);
    shared.run(2);
    // Data flows over one pipe as over a single TCP when the other side wants no more.
    let mut single = Stage::new(config(3, 64_000), config(1, 64_000), None);
    single.client.write(10_000);
    single.run(100);
    let one = single.client.state() == State::Established(1) && single.client.stream_acked() == 10_000;
    // The second of three pipes never opens.
    let mut failing = Stage::new(config(3, 64_000), config(3, 64_000), Some(1));
    failing.client.write(50_000);
    failing.run(4_000);
    let goes_on = failing.client.state() == State::Established(2) && failing.client.stream_acked() == 50_000;
    let findings = vec![
        Finding::values("PT-020", vec![shared.data as f64]),
        Finding::shape("PT-021", one, format!("{} pipe, all bytes acknowledged", single.client.pipe_count())),
        Finding::shape("PT-022", goes_on, "ESTABLISHED(2), all bytes acknowledged"),
    ];
    (findings, Vec::new())
}
