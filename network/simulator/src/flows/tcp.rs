//! TCP: bulk transfers, and requests with responses over one connection.
mod application;
pub(crate) mod endpoint;
pub(crate) mod pair;
pub(crate) mod request_response;

use super::application::ENDLESS;
use super::policy::{CongestionFactory, ExtensionFactory};
use super::transport::{Built, BuiltFlow, FlowBuild, SegmentShape, Transport};
use crate::core::ids::EndpointId;
use crate::core::policy_role::PolicyRole;
use endpoint::{CustomParts, Role, TcpEndpoint, TcpSetup, Updates};
use pair::TcpPair;
use prismux_prism::TcpPrism;
use prismux_tcp::TcpConfig;
use prismux_tcp::loss_notification::{LossListener, LossMarker};
use prismux_tcp_door::DoorConfig;
use prismux_tcp_ho::{HandoffConfig, HandoffHost, HandoffServer};
use prismux_units::Duration;
use prismux_wire::SeqNumber;
use std::sync::Arc;

/// Ports of opening ends; so many flows have the same port at their listening ends.
pub(crate) const NEAR_PORTS: u32 = 40_000;
/// The port of the listening ends of the first of them.
const FIRST_FAR_PORT: u16 = 5001;

/// The two ends of a bulk transfer.
#[derive(Debug, Clone)]
pub struct TcpFlow {
    /// Switches of the sending end.
    pub sender: TcpConfig,
    /// Switches of the receiving end.
    pub receiver: TcpConfig,
    /// What the sender learns from the network (TCP-PRISM).
    pub extension: Option<ExtensionFactory>,
    /// The sender's congestion control, where it comes from outside.
    pub congestion: Option<CongestionFactory>,
    /// The receiver tells of its host's handoffs like this (TCP-HO); without, it keeps silent.
    pub handoff: Option<HandoffConfig>,
    /// The receiver learns from its link layer which segments arrived damaged, and marks its ACKs (TCP-ELN).
    pub hears_damage: bool,
    /// Both ends watch the order of arrival (TCP-DOOR).
    pub door: Option<DoorConfig>,
    /// The application writes so many bytes every so often, and not a file.
    pub writes: Option<(u64, Duration)>,
    /// The receiver writes [`prismux_plan::UPDATE_BYTES`] back each time that so many bytes have come.
    pub updates_every: Option<u64>,
    /// The name in results: `"tcp"`, `"tcp-prism"`, `"tcp-ho"`.
    pub name: String,
}

impl TcpFlow {
    /// Both ends with the same switches.
    pub fn new(config: TcpConfig) -> Self {
        Self {
            sender: config.clone(),
            receiver: config,
            extension: None,
            congestion: None,
            handoff: None,
            hears_damage: false,
            door: None,
            writes: None,
            updates_every: None,
            name: "tcp".into(),
        }
    }

    /// TCP-PRISM: the sender understands a proxy's loss reports.
    pub fn with_loss_reports(self) -> Self {
        self.with_extension("tcp-prism", ExtensionFactory::new(|| Box::<TcpPrism>::default()))
    }

    /// TCP-HO at both ends.
    pub fn with_handoff(self, config: HandoffConfig) -> Self {
        let server = config.clone();
        let extension = ExtensionFactory::new(move || Box::new(HandoffServer::new(server.clone())));
        Self { handoff: Some(config), ..self.with_extension("tcp-ho", extension) }
    }

    /// TCP-DOOR at both ends.
    pub fn with_order_watch(self, config: &DoorConfig) -> Self {
        Self { door: Some(config.clone()), name: "tcp-door".into(), ..self }
    }

    /// TCP-ELN at both ends.
    pub fn with_loss_notification(self) -> Self {
        let extension = ExtensionFactory::new(|| Box::new(LossListener));
        Self { hears_damage: true, ..self.with_extension("tcp-eln", extension) }
    }

    /// With an extension at the sender, under another name.
    pub fn with_extension(mut self, name: &str, extension: ExtensionFactory) -> Self {
        self.name = name.into();
        self.extension = Some(extension);
        self
    }
}

impl Transport for TcpFlow {
    fn name(&self) -> &str {
        &self.name
    }

    fn segment(&self) -> Option<SegmentShape> {
        Some(SegmentShape::agreed(&self.sender, &self.receiver))
    }

    fn takes(&self, role: &PolicyRole) -> bool {
        matches!(role, PolicyRole::Congestion | PolicyRole::CongestionOf(_))
    }

    fn build(&self, build: &mut FlowBuild<'_>) -> BuiltFlow {
        let source = match self.writes {
            Some((bytes, every)) => Role::Writer { bytes, every },
            None => Role::Source { bytes: build.bytes().unwrap_or(ENDLESS) },
        };
        let custom = CustomParts {
            extension: self.extension.clone(),
            congestion: build.congestion.or(self.congestion.as_ref()).cloned(),
            door: self.door.clone(),
        };
        let updates = self.updates_every.map(|every| Updates { every, written: 0 });
        let mut pair =
            pair(build, [(&self.sender, source), (&self.receiver, Role::Sink { updates })], custom);
        if self.handoff.is_some() || self.hears_damage {
            let extras = pair.ends[1].extras.get_or_insert_default();
            extras.notifier = self.handoff.as_ref().map(HandoffHost::new);
            extras.marker = self.hears_damage.then(LossMarker::default);
        }
        BuiltFlow(Built::Tcp(Box::new(pair)))
    }
}

/// The two ends of a connection: the opening one, with what is the sender's own, and the listening one.
fn pair(build: &mut FlowBuild<'_>, ends: [(&TcpConfig, Role); 2], custom: CustomParts) -> TcpPair {
    let number = build.next_places.0;
    let sites = build.sites([EndpointId::tcp(number, 0), EndpointId::tcp(number, 1)]);
    let mut numbers = build.random("initial-sequence");
    let flow = build.flow.0;
    // Ports differ between flows as long as there are ports.
    let (near, far) = (20_000 + (flow % NEAR_PORTS) as u16, FIRST_FAR_PORT + (flow / NEAR_PORTS) as u16);
    let mut end = |site, (tcp, role): (&TcpConfig, Role), ports: (u16, u16), custom: CustomParts| {
        let setup = TcpSetup {
            config: shared(build.tcp_configs, tcp),
            custom,
            local_port: ports.0,
            remote_port: ports.1,
            initial_sequence: SeqNumber(numbers.next_u64() as u32),
        };
        TcpEndpoint::new(site, role, setup, build.checks)
    };
    let [opening, listening] = ends;
    let answering = CustomParts { door: custom.door.clone(), ..CustomParts::default() };
    let opening = end(sites[0], opening, (near, far), custom);
    let listening = end(sites[1], listening, (far, near), answering);
    TcpPair { ends: [opening, listening] }
}

/// One copy of equal configurations, the latest first: thousands of flows that share one keep it in the cache.
fn shared(configs: &mut Vec<Arc<TcpConfig>>, config: &TcpConfig) -> Arc<TcpConfig> {
    // Simulated applications read at once.
    let config = TcpConfig { consume_on_arrival: true, ..config.clone() };
    if let Some(equal) = configs.iter().rev().find(|known| ***known == config) {
        return Arc::clone(equal);
    }
    let config = Arc::new(config);
    configs.push(Arc::clone(&config));
    config
}
