//! The nodes and links of a community's gateway.
use prismux_link::{GilbertElliott, Jitter, LinkConfig, LossModel, QueueLimit};
use prismux_plan::{Flow, FlowId, LinkId, NodeId, Plan, ProxySettings, TcpSettings, Traffic, Transport};
use prismux_units::{ByteCount, Duration, Probability, Rate};

/// Members, each with one uplink.
pub const MEMBERS: usize = 6;
/// Hosts behind the members.
const RECEIVERS: usize = 3;
/// Connections that may be open or not forgotten yet at a time.
const SLOTS: usize = 2000;
/// Every so many of them is an upload.
const UPLOAD_EVERY: usize = 12;
/// Of the first download; all others are renewed.
const FIRST_BYTES: ByteCount = ByteCount::new(1);

/// An uplink: towards the receivers, and half as quick back.
#[derive(Debug, Clone, Copy)]
pub struct Uplink {
    /// Its rate in good times.
    pub rate: Rate,
    delay: Duration,
    jitter: Jitter,
    /// In thousandths of the packets, one by one or (in bursts of four in the mean) together.
    loss_permille: f64,
    in_bursts: bool,
}

/// 9.5 Mbit/s together: lines, radio links with jitter, reordering, loss one by one and in bursts.
pub const UPLINKS: [Uplink; MEMBERS] = [
    uplink(3000, 15, (0, true), 0.0, false),
    uplink(2000, 20, (5, true), 0.0, false),
    uplink(1500, 40, (15, true), 2.0, false),
    uplink(1000, 35, (4, false), 0.0, false),
    uplink(1000, 60, (0, true), 4.0, true),
    uplink(1000, 30, (0, true), 0.0, false),
];

const fn uplink(
    kbps: u64,
    delay_ms: u64,
    jitter: (u64, bool),
    loss_permille: f64,
    in_bursts: bool,
) -> Uplink {
    let jitter = Jitter { max: Duration::from_millis(jitter.0), in_order: jitter.1 };
    Uplink {
        rate: Rate::from_kbps(kbps),
        delay: Duration::from_millis(delay_ms),
        jitter,
        loss_permille,
        in_bursts,
    }
}

impl Uplink {
    fn loss(&self) -> LossModel {
        // Shares between 0 and 1 are probabilities.
        let chance = |p: f64| Probability::new(p).unwrap_or_default();
        let share = self.loss_permille / 1000.0;
        match self.in_bursts {
            _ if share == 0.0 => LossModel::None,
            false => LossModel::Bernoulli(chance(share)),
            true => LossModel::GilbertElliott(GilbertElliott {
                good_to_bad: chance(share / 4.0),
                bad_to_good: chance(0.25),
                loss_good: chance(0.0),
                loss_bad: chance(1.0),
            }),
        }
    }

    fn link(&self, rate: Rate) -> LinkConfig {
        let link =
            LinkConfig::new(rate, self.delay).with_queue(QueueLimit::Packets(60)).with_loss(self.loss());
        LinkConfig { jitter: self.jitter, ..link }
    }
}

/// The network, and the flows in it.
#[derive(Debug)]
pub struct Community {
    /// Everything.
    pub plan: Plan,
    server: NodeId,
    /// Where the proxy runs.
    pub proxy: NodeId,
    /// In the order of [`UPLINKS`].
    pub members: [NodeId; MEMBERS],
    /// Their links, from the proxy.
    pub uplinks: [LinkId; MEMBERS],
    /// Bulk transfers that have not started: places for connections that come and go.
    pub slots: Vec<FlowId>,
    /// Connections that are there all the time and hardly ever say anything.
    pub idle: Vec<Idle>,
}

/// A connection that is mostly idle.
#[derive(Debug, Clone, Copy)]
pub struct Idle {
    /// Its flow.
    pub flow: FlowId,
    /// One write.
    pub bytes: u64,
    /// From one to the next.
    pub every: Duration,
}

impl Community {
    /// For a run of so much time.
    pub fn new(time: Duration) -> Self {
        // Slots never start by the plan, but when the day brings a connection.
        let mut plan = Plan::new("week", time + Duration::from_secs(2));
        let server = plan.host("server");
        let settings = ProxySettings { receipts: true, ..ProxySettings::default() };
        let proxy = plan.prism_proxy("proxy", settings);
        let members: [NodeId; MEMBERS] = std::array::from_fn(|index| plan.member(&format!("m{index}")));
        let receivers: [NodeId; RECEIVERS] = std::array::from_fn(|index| plan.host(&format!("r{index}")));
        let near = |ms| {
            LinkConfig::new(Rate::from_mbps(300), Duration::from_millis(ms)).with_queue(QueueLimit::Unlimited)
        };
        plan.symmetric_link("backbone", [server, proxy], near(10));
        let uplinks = std::array::from_fn(|index| {
            let uplink = &UPLINKS[index];
            let back = LinkConfig { loss: LossModel::None, ..uplink.link(uplink.rate.mul_f64(0.5)) };
            plan.link(&format!("wwan{index}"), [proxy, members[index]], uplink.link(uplink.rate), back)
        });
        for (index, &receiver) in receivers.iter().enumerate() {
            // Each prefers other members for the way back.
            for member in (0..MEMBERS).map(|number| (2 * index + number) % MEMBERS) {
                plan.symmetric_link(&format!("wlan{index}-{member}"), [members[member], receiver], near(1));
            }
        }
        for index in 0..MEMBERS {
            let next = (index + 1) % MEMBERS;
            plan.symmetric_link(&format!("lan{index}"), [members[index], members[next]], near(1));
        }
        let tcp = TcpSettings { mss: Some(1400), ..TcpSettings::default() };
        let slots = (0..SLOTS).map(|slot| {
            let receiver = receivers[slot % RECEIVERS];
            let [from, to] = if slot % UPLOAD_EVERY == 0 { [receiver, server] } else { [server, receiver] };
            let flow = Flow::new(&format!("slot{slot}"), from, to, Transport::Tcp).tcp(tcp.clone());
            plan.flow(flow.bytes(FIRST_BYTES).start_at(time + Duration::from_secs(1)))
        });
        let slots = slots.collect();
        let idle = idle(&mut plan, server, &receivers, &tcp);
        let datagrams = Traffic::ParetoOnOff {
            rate: Rate::from_kbps(150),
            packet: ByteCount::new(1000),
            on: Duration::from_secs(20),
            off: Duration::from_secs(300),
            shape: 1.5,
        };
        plan.flow(Flow::new("calls", server, receivers[1], Transport::Udp).traffic(datagrams));
        Self { plan, server, proxy, members, uplinks, slots, idle }
    }

    /// Whether a flow's data goes from a host behind the members.
    pub(super) fn is_upload(&self, flow: FlowId) -> bool {
        self.plan[flow].from != self.server
    }
}

/// Connections that speak every minute, less often, and so seldom that a proxy has forgotten them meanwhile.
fn idle(plan: &mut Plan, server: NodeId, receivers: &[NodeId; RECEIVERS], tcp: &TcpSettings) -> Vec<Idle> {
    let every = [60, 600, 1200].map(Duration::from_secs);
    let flows = receivers.iter().zip(every).map(|(&receiver, every)| {
        let name = format!("idle-{}", every.as_secs_f64());
        let bytes = 500;
        let writes = Traffic::Writes { size: ByteCount::new(bytes), every };
        let flow = Flow::new(&name, server, receiver, Transport::Tcp).traffic(writes).tcp(tcp.clone());
        Idle { flow: plan.flow(flow), bytes, every }
    });
    flows.collect()
}
