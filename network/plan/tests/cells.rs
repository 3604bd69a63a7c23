//! What can be wrong with base stations and with radios that are tuned.
use prismux_dsr::DsrConfig;
use prismux_link::LinkConfig;
use prismux_plan::{
    Action, Cells, Flow, FurtherRadio, LinkId, MediumModel, NodeId, Plan, Power, Radio, Routing, Transport,
};
use prismux_units::Duration;
use prismux_wireless::{
    AssociationConfig, Coordination, EnergyConfig, MacConfig, Mobility, PollingConfig, Position, RadioConfig,
};

const SERVER: NodeId = NodeId::new(0);
const BASE: NodeId = NodeId::new(1);
const CAR: NodeId = NodeId::new(2);
const WIRE: LinkId = LinkId::new(0);
const WWAN: LinkId = LinkId::new(1);

/// A server, a base station and a car, which has a second link.
fn good() -> Plan {
    let mut plan = Plan::new("good", Duration::from_secs(60));
    plan.host("server");
    plan.router("base");
    plan.host("car");
    plan.symmetric_link("wire", [SERVER, BASE], LinkConfig::default());
    plan.symmetric_link("wwan", [BASE, CAR], LinkConfig::default());
    let radio = Radio {
        cells: Some(Cells {
            base_stations: vec![BASE],
            association: AssociationConfig::lte(),
            forwards: false,
            fallback: vec![(CAR, WWAN)],
            relays_below_db: None,
        }),
        ..Radio::new(
            RadioConfig::wavelan(),
            MacConfig::dsss(),
            vec![Mobility::Static(Position { x_m: 0.0, y_m: 0.0 }); 2],
            Routing::Direct,
        )
    };
    plan.medium("air", &[BASE, CAR], MediumModel::Radio(Box::new(radio)));
    plan.flow(Flow::new("download", SERVER, CAR, Transport::Tcp));
    plan
}

fn radio(plan: &mut Plan) -> &mut Radio {
    match &mut plan.media[0].model {
        MediumModel::Radio(radio) => radio,
        other => panic!("{other:?}"),
    }
}

fn cells(plan: &mut Plan) -> &mut Cells {
    radio(plan).cells.as_mut().expect("cells")
}

/// What is wrong with the plan as `spoil` makes it.
fn faults(spoil: impl FnOnce(&mut Plan)) -> Vec<String> {
    let mut plan = good();
    spoil(&mut plan);
    let faults = plan.check().err().map(|error| error.faults).unwrap_or_default();
    faults.iter().map(|fault| format!("{}: {}", fault.path(), fault.found())).collect()
}

#[test]
fn base_stations_forward_and_fallbacks_are_links_of_who_hands_over() {
    assert_eq!(faults(|_| ()), Vec::<String>::new());
    let no_router = ["media.air.cells: found a base station that is no router on the air, or none at all"];
    assert_eq!(faults(|plan| cells(plan).base_stations.clear()), no_router);
    assert_eq!(faults(|plan| cells(plan).base_stations.push(CAR)), no_router);
    assert_eq!(faults(|plan| cells(plan).base_stations.push(SERVER)), no_router);
    let no_link = ["media.air.cells: found a fallback that is no link of a host that hands over"];
    assert_eq!(faults(|plan| cells(plan).fallback = vec![(CAR, WIRE)]), no_link);
    assert_eq!(faults(|plan| cells(plan).fallback = vec![(BASE, WWAN)]), no_link);
    let hysteresis = ["media.air.cells: found the hysteresis is not between 0 and 20 dB"];
    assert_eq!(faults(|plan| cells(plan).association.hysteresis_db = f64::NAN), hysteresis);
    let beside = ["media.air.cells: found slots or polling beside cells"];
    assert_eq!(faults(|plan| radio(plan).mac.coordination = polling()), beside);
}

#[test]
fn hosts_relay_beside_cells_by_second_radios_and_a_routing_protocol() {
    let relaying = |plan: &mut Plan, host, channel| {
        radio(plan).routing = Routing::Dsr(DsrConfig::rfc4728());
        radio(plan).further_radios = vec![FurtherRadio::new(host, channel)];
    };
    assert_eq!(faults(|plan| relaying(plan, 1, 6)), Vec::<String>::new());
    let of_cells = |what: &str| [format!("media.air.cells: found {what}")];
    let nobody = of_cells("a routing protocol beside cells, and no host with a second radio to relay by");
    assert_eq!(faults(|plan| radio(plan).routing = Routing::Dsr(DsrConfig::rfc4728())), nobody);
    let of_radios = |what: &str| [format!("media.air.channels: found {what}")];
    assert_eq!(faults(|plan| relaying(plan, 0, 6)), nobody, "the second radio is the base station's");
    let on_cell = of_radios("a radio to relay by on the channel of a base station");
    let on_its_channel = faults(|plan| {
        relaying(plan, 1, 1);
        radio(plan).channels = vec![1, 3];
    });
    assert_eq!(on_its_channel, on_cell);
    let on_its_other_channel = faults(|plan| {
        relaying(plan, 1, 6);
        radio(plan).further_radios.push(FurtherRadio::new(0, 6));
    });
    assert_eq!(on_its_other_channel, on_cell);
    let several_of_base = faults(|plan| radio(plan).further_radios = vec![FurtherRadio::new(0, 6)]);
    assert_eq!(several_of_base, Vec::<String>::new(), "which needs no routing");
    let unrouted =
        of_radios("hosts with several radios beside cells, and no routing protocol that relays over them");
    assert_eq!(faults(|plan| radio(plan).further_radios = vec![FurtherRadio::new(1, 6)]), unrouted);
}

fn polling() -> Coordination {
    let (period, max_duration) = (Duration::from_millis(100), Duration::from_millis(50));
    Coordination::Polling(PollingConfig { period, max_duration })
}

#[test]
fn what_is_not_in_the_plan_is_said_and_not_looked_up() {
    let lost = |what: &str| [format!("media.air: it refers to a {what} that the plan does not have")];
    assert_eq!(faults(|plan| cells(plan).base_stations.push(NodeId::new(99))), lost("node"));
    assert_eq!(faults(|plan| cells(plan).fallback = vec![(CAR, LinkId::new(99))]), lost("link"));
    assert_eq!(faults(|plan| cells(plan).fallback = vec![(NodeId::new(99), WWAN)]), lost("node"));
}

#[test]
fn radios_are_tuned_where_they_contend_and_nobody_else_decides() {
    let tune = |plan: &mut Plan, host, channel| {
        plan.event(Duration::from_secs(1), Action::Tune { host, channel });
    };
    let refused = ["events.0.tune: the channel of \"car\" cannot be changed"];
    assert_eq!(faults(|plan| tune(plan, CAR, 6)), refused, "base stations decide");
    let alone = |channel| {
        faults(|plan| {
            radio(plan).cells = None;
            tune(plan, CAR, channel);
        })
    };
    assert_eq!(alone(6), Vec::<String>::new());
    assert_eq!(alone(0), refused);
    assert_eq!(faults(|plan| tune(plan, SERVER, 6)), ["events.0.tune: \"server\" is not on the air"]);
}

#[test]
fn several_radios_of_a_host_are_on_channels_of_their_own() {
    let further = FurtherRadio::new;
    let with = |radios: &[FurtherRadio], change: &dyn Fn(&mut Radio)| {
        faults(|plan| {
            radio(plan).cells = None;
            radio(plan).further_radios = radios.to_vec();
            change(radio(plan));
        })
    };
    assert_eq!(with(&[further(0, 6), further(1, 6)], &|_| ()), Vec::<String>::new());
    let said = |what: &str| [format!("media.air.channels: found {what}")];
    let twice = said("two radios of one host on one channel");
    assert_eq!(with(&[further(0, 1)], &|_| ()), twice);
    assert_eq!(with(&[further(0, 6), further(0, 6)], &|_| ()), twice);
    assert_eq!(with(&[further(2, 6)], &|_| ()), said("a radio of a host that is not on the air"));
    assert_eq!(with(&[further(0, 6)], &|radio| radio.mac.coordination = polling()), Vec::<String>::new());
    let power = |radio: &mut Radio| {
        let energy = EnergyConfig::ns2();
        radio.power = Some(Power { energy, batteries_j: vec![None, Some(1.0)] });
    };
    assert_eq!(with(&[further(0, 6)], &power), Vec::<String>::new());
}
