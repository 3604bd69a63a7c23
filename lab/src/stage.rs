//! A network that stands, and what happens to it during a run.
mod handoff;
mod look;
mod routers;

use crate::LabError;
use crate::air::DaemonEnd;
use crate::daemons::config::Community;
use crate::daemons::keys::Keys;
use crate::daemons::{Daemon, DaemonCommand, DaemonOrders, DaemonRole, wait_until_joined};
use crate::emulator::Emulator;
use crate::mptcp::{MptcpEndpoint, PathManager};
use crate::orders::{Carrier, Orders};
use crate::run::LabOptions;
use crate::servers::Server;
use crate::status_pages::StatusPages;
use crate::topology::{NodeIndex, Path, RouteEntry, Topology};
use prismux_link::LinkChange;
use prismux_linux::clock::Clock;
use prismux_linux::namespace::Namespace;
use prismux_linux::netlink::NetlinkError;
use prismux_linux::tun::Tun;
use prismux_plan::{Action, Direction, NodeId, Role};
use prismux_trace::event::{Event, EventSink, SharedLog};
use prismux_units::{Duration, Instant};
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::sync::atomic::Ordering;

/// After how long a receiver notices that a neighbour has gone without a word.
const NOTICE_DELAY: Duration = Duration::from_secs(1);

/// A network that stands.
pub(super) struct Stage<'a> {
    pub orders: &'a Orders<'a>,
    pub topology: Topology,
    pub namespaces: &'a [Namespace],
    emulator: &'a Emulator,
    pub how: &'a DaemonCommand,
    /// Devices of senders that are not the kernel's, by address, until their flows take them.
    pub own_senders: BTreeMap<Ipv4Addr, Tun>,
    daemons: Vec<Daemon>,
    /// Of its sealed tunnels; their files last as long as this.
    keys: Keys,
    /// Servers of files.
    pub servers: Vec<Server>,
    /// Members that are there.
    present: BTreeSet<NodeIndex>,
    /// The member through which each proxied path's ACKs return, by the path's table.
    returns: BTreeMap<u32, NodeIndex>,
    pub status_pages: StatusPages,
    /// Where the events of the run go.
    pub events: Option<SharedLog>,
    /// The run's clock, once it plays.
    clock: Option<Clock>,
}

/// Something on the agenda of a run.
enum Step {
    Event(Action),
    /// Its neighbours notice that a killed member is gone.
    Notice(NodeIndex),
}

impl<'a> Stage<'a> {
    /// Brings the members that are there from the start, their daemons and MPTCP's endpoints into place.
    ///
    /// # Errors
    /// What could not be brought into place, and on which node.
    pub fn set(
        orders: &'a Orders<'a>,
        topology: Topology,
        namespaces: &'a [Namespace],
        (own_senders, routers): (BTreeMap<Ipv4Addr, Tun>, Vec<DaemonEnd>),
        emulator: &'a Emulator,
        options: &'a LabOptions,
    ) -> Result<Self, LabError> {
        let plan = orders.plan;
        let members = plan.nodes.iter().enumerate().filter_map(|(index, node)| match node.role {
            Role::Member(member) => Some((index, member)),
            _ => None,
        });
        let present = members.filter(|(_, member)| member.present).map(|(index, _)| index).collect();
        let how = &options.daemons;
        let (daemons, returns) = (Vec::new(), BTreeMap::new());
        let status_pages = StatusPages::new(
            plan.measure.interval,
            plan.flows.iter().map(|flow| flow.name.clone()),
            options.events.clone(),
        );
        let mut stage = Self {
            orders,
            topology,
            namespaces,
            emulator,
            how,
            own_senders,
            daemons,
            keys: Keys::default(),
            servers: Vec::new(),
            present,
            returns,
            status_pages,
            events: options.events.clone(),
            clock: None,
        };
        stage.make_daemons(options.record.as_deref())?;
        stage.make_routers(routers)?;
        for index in 0..stage.daemons.len() {
            let daemon = &stage.daemons[index];
            if daemon.is_proxy() || daemon.is_router() || stage.is_present(daemon.node) {
                stage.daemons[index].start(how)?;
            }
        }
        wait_until_joined(&mut stage.daemons)?;
        stage.steer_returns()?;
        stage.prepare_mptcp()?;
        Ok(stage)
    }

    /// True for a member that is there.
    pub fn is_present(&self, member: NodeIndex) -> bool {
        self.present.contains(&member)
    }

    /// Runs `work` in the namespace of a node.
    ///
    /// # Errors
    /// When the namespace cannot be entered.
    pub fn inside<T: Send>(&self, node: NodeIndex, work: impl FnOnce() -> T + Send) -> Result<T, LabError> {
        let doing = || format!("enter the namespace of node \"{}\"", self.topology.name(node));
        self.namespaces[node].enter(work).map_err(LabError::setup(doing()))
    }

    /// Runs netlink requests in a node's namespace.
    fn configure(
        &self,
        node: NodeIndex,
        work: impl FnOnce() -> Result<(), NetlinkError> + Send,
    ) -> Result<(), LabError> {
        self.inside(node, work)?.map_err(|error| {
            let doing = format!("{} on node \"{}\"", error.request, self.topology.name(node));
            LabError::setup(doing)(error.source)
        })
    }

    /// One daemon for each proxy in use, and one for each of its members.
    fn make_daemons(&mut self, record: Option<&std::path::Path>) -> Result<(), LabError> {
        let proxies: BTreeSet<_> = self.topology.proxied_paths().filter_map(|path| path.proxy).collect();
        let token =
            format!("lab {}", prismux_linux::random::nonzero_u64().map_err(LabError::setup("draw a token"))?);
        let token = format!("{token:-<32}");
        self.keys = Keys::of(&self.topology, &proxies)?;
        let community =
            Community { plan: self.orders.plan, topology: &self.topology, token, keys: &self.keys };
        let mut served: BTreeMap<NodeIndex, u32> = BTreeMap::new();
        let mut daemons = Vec::new();
        for proxy in proxies {
            let daemon = |node: NodeIndex, role, config| {
                let orders = DaemonOrders::Config(config);
                Daemon::new(node, self.topology.name(node), role, &self.namespaces[node], orders)
            };
            let record =
                record.map(|folder| folder.join(recording_name(self.orders, self.topology.name(proxy))));
            daemons.push(daemon(proxy, DaemonRole::Proxy, community.proxy(proxy, record.as_deref())?));
            for &member in self.topology.members_of(proxy) {
                let number = served.entry(member).or_default();
                let config = community.member(member, proxy, *number)?;
                *number += 1;
                daemons.push(daemon(member, DaemonRole::Member { proxy }, config));
            }
        }
        self.daemons = daemons;
        Ok(())
    }

    /// Sends the ACKs of every proxied path through a member that is there.
    fn steer_returns(&mut self) -> Result<(), LabError> {
        let paths: Vec<Path> = self.topology.proxied_paths().cloned().collect();
        for path in paths {
            let Some(member) = self.topology.return_member(&path, |member| self.is_present(member)) else {
                continue;
            };
            if self.returns.insert(path.table, member) == Some(member) {
                continue;
            }
            for (node, port) in self.topology.return_steps(&path, member)? {
                let default = RouteEntry { table: path.table, destination: None, port, source: None };
                self.set_routes(node, &[default])?;
            }
        }
        Ok(())
    }

    /// Makes the receivers' path addresses endpoints of MPTCP, and lets senders accept the subflows.
    fn prepare_mptcp(&mut self) -> Result<(), LabError> {
        for (path, endpoint) in self.mptcp_endpoints(None)? {
            self.configure(path.from, || PathManager::open()?.allow_subflows())?;
            self.configure(path.to, || PathManager::open()?.allow_subflows())?;
            if path.member.is_some_and(|member| self.is_present(member)) {
                self.configure(path.to, || PathManager::open()?.add(endpoint))?;
            }
        }
        Ok(())
    }

    /// Every MPTCP path, or those through one member.
    fn mptcp_endpoints(&mut self, member: Option<NodeIndex>) -> Result<Vec<(Path, MptcpEndpoint)>, LabError> {
        let mut endpoints: Vec<(Path, MptcpEndpoint)> = Vec::new();
        for flow in self.orders.flows.iter().filter(|flow| flow.carrier == Carrier::Mptcp) {
            for path in self.topology.paths(flow)? {
                let id = u8::try_from(path.number()).map_err(|_| {
                    LabError::flow(&flow.flow.name, "has a path beyond the 255 that MPTCP can number")
                })?;
                let endpoint = MptcpEndpoint { id, address: path.address };
                let wanted = member.is_none() || path.member == member;
                if wanted && !endpoints.iter().any(|(known, _)| *known == path) {
                    endpoints.push((path, endpoint));
                }
            }
        }
        Ok(endpoints)
    }

    /// What has to be as planned when the clock starts: links of members that are not there yet are down.
    ///
    /// # Errors
    /// When the kernel refuses to take a link down.
    pub fn begin(&mut self, clock: Clock) -> Result<(), LabError> {
        self.emulator.begin(clock);
        let absent = self.orders.plan.nodes.iter().enumerate().filter_map(|(index, node)| match node.role {
            Role::Member(member) if !member.present => Some(index),
            _ => None,
        });
        for member in absent {
            self.switch_links(member, false);
        }
        Ok(())
    }

    /// Waits for the end of the run and makes the plan's events happen.
    ///
    /// # Errors
    /// When a daemon or a server ends by itself, an event cannot be carried out, or the run is interrupted.
    pub fn play(
        &mut self,
        clock: Clock,
        options: &LabOptions,
        done: impl Fn() -> bool,
    ) -> Result<(), LabError> {
        let plan = self.orders.plan;
        self.clock = Some(clock);
        let events = plan.events.iter().map(|event| (Instant::ZERO + event.at, Step::Event(event.action)));
        let mut agenda: Vec<(Instant, Step)> = events.collect();
        let end = Instant::ZERO + plan.duration;
        loop {
            // Stable, so that events of one instant keep the plan's order.
            agenda.sort_by_key(|(at, _)| *at);
            let now = clock.now();
            let due = agenda.iter().take_while(|(at, _)| *at <= now).count();
            for (at, step) in agenda.drain(..due).collect::<Vec<_>>() {
                match step {
                    Step::Event(action) => {
                        if let Some(member) = self.act(action)? {
                            agenda.push((at + NOTICE_DELAY, Step::Notice(member)));
                        }
                    }
                    Step::Notice(member) => self.notice_loss(member)?,
                }
            }
            self.check()?;
            self.status_pages.sample(now, &self.daemons);
            if options.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
                return Err(LabError::Interrupted);
            }
            if now >= end || done() {
                self.status_pages.sample_last(now, &self.daemons);
                return Ok(());
            }
            let next = agenda.first().map_or(end, |(at, _)| (*at).min(end));
            let left = std::time::Duration::from_nanos((next - clock.now()).as_nanos());
            std::thread::sleep(left.min(crate::traffic::WAIT));
        }
    }

    /// Tells the log of the run, if there is one, what a member does for which no daemon speaks.
    fn tell_of(&mut self, member: NodeId, event: &Event<'_>) {
        let speaks_for_itself = self.daemons.iter().any(|daemon| daemon.node == member.index());
        if let (Some(log), Some(clock), false) = (&mut self.events, self.clock, speaks_for_itself) {
            log.event(clock.now(), event);
        }
    }

    /// Makes an event happen. Answers the member whose silence will be noticed later, if any.
    fn act(&mut self, action: Action) -> Result<Option<NodeIndex>, LabError> {
        match action {
            Action::ChangeLink { link, directions, change } => {
                for direction in [Direction::Forward, Direction::Reverse] {
                    if directions.include(direction) {
                        self.emulator.change(link.index(), direction, change);
                    }
                }
            }
            Action::Leave(member) => {
                self.tell_of(member, &Event::MemberLeft { member: self.name(member), cause: None });
                self.leave(member.index())?;
            }
            Action::Join(member) => {
                self.tell_of(member, &Event::MemberJoined { member: self.name(member), peer: None });
                self.join(member.index())?;
            }
            Action::Kill(node) => {
                let node = node.index();
                self.daemons.iter_mut().filter(|daemon| daemon.node == node).for_each(Daemon::kill);
                return Ok(self.is_present(node).then_some(node));
            }
            Action::Restart(node) => self.start_daemons(node.index())?,
            Action::Handoff { host, link, bandwidth } => self.hand_over(host, link, bandwidth)?,
            // Times of flows are part of their orders, and channels the affair of the air; plans that put flows to
            // sleep are refused.
            Action::StartFlow(_)
            | Action::StopFlow(_)
            | Action::Tune { .. }
            | Action::Sleep(_)
            | Action::Wake(_) => {}
        }
        Ok(None)
    }

    fn name(&self, node: NodeId) -> std::borrow::Cow<'a, str> {
        self.orders.plan[node].name.as_str().into()
    }

    /// A member goes in good order.
    fn leave(&mut self, member: NodeIndex) -> Result<(), LabError> {
        self.present.remove(&member);
        self.daemons.iter_mut().filter(|daemon| daemon.node == member).for_each(Daemon::stop);
        for (path, endpoint) in self.mptcp_endpoints(Some(member))? {
            self.configure(path.to, || PathManager::open()?.remove(endpoint))?;
        }
        self.switch_links(member, false);
        self.steer_returns()
    }

    /// A member comes.
    fn join(&mut self, member: NodeIndex) -> Result<(), LabError> {
        self.switch_links(member, true);
        self.start_daemons(member)?;
        for (path, endpoint) in self.mptcp_endpoints(Some(member))? {
            self.configure(path.to, || PathManager::open()?.add(endpoint))?;
        }
        Ok(())
    }

    fn start_daemons(&mut self, node: NodeIndex) -> Result<(), LabError> {
        for daemon in self.daemons.iter_mut().filter(|daemon| daemon.node == node) {
            daemon.start(self.how)?;
        }
        if matches!(self.orders.plan.nodes[node].role, Role::Member(_)) {
            self.present.insert(node);
        }
        Ok(())
    }

    /// Neighbours find out that a killed member is gone, unless it is back already.
    fn notice_loss(&mut self, member: NodeIndex) -> Result<(), LabError> {
        let back = self.daemons.iter().any(|daemon| daemon.node == member && daemon.is_started());
        if back {
            return Ok(());
        }
        self.present.remove(&member);
        self.steer_returns()
    }

    /// Switches a member's links, unless daemons speak for it: then its links stay, and it takes its leave. In either
    /// case what they offer counts no longer.
    fn switch_links(&mut self, member: NodeIndex, up: bool) {
        let change = if up { LinkChange::UP } else { LinkChange::DOWN };
        let speaks_for_itself = self.daemons.iter().any(|daemon| daemon.node == member);
        for port in &self.topology.nodes[member].ports {
            self.emulator.set_in_use(port.link, up);
            if !speaks_for_itself {
                self.emulator.change(port.link, Direction::Forward, change);
                self.emulator.change(port.link, Direction::Reverse, change);
            }
        }
    }
}

/// Name of the file in which a proxy of a run keeps its recording.
pub(super) fn recording_name(orders: &Orders<'_>, proxy: &str) -> String {
    let plain = |name: &str| name.replace(['/', ' '], "-");
    format!("{}-seed{}-{}.pcapng", plain(&orders.plan.name), orders.seed.0, plain(proxy))
}
