//! `[radio.cells]`: what it becomes, and what is wrong with it.
use prismux_plan::{Action, Cells, Medium, MediumModel, NodeId, Routing};
use prismux_scenario::ScenarioFile;
use prismux_units::{Duration, Instant};
use prismux_wireless::{AssociationConfig, HostId, Mobility, Position, Role};

const NODES: &str = "duration = \"10 s\"\n[nodes]\nserver = { kind = \"host\" }\nwest = { kind = \"router\" }\n\
    east = { kind = \"router\" }\ncar = { kind = \"host\" }\n\
    [links]\nto-west = { between = [\"server\", \"west\"], rate = \"10 Mbit/s\", delay = \"1 ms\" }\n\
    to-east = { between = [\"west\", \"east\"], rate = \"10 Mbit/s\", delay = \"1 ms\" }\n\
    wwan = { between = [\"west\", \"car\"], rate = \"1 Mbit/s\", delay = \"50 ms\" }\n\
    [flows]\nf = { from = \"server\", to = \"car\" }\n";
const PLACES: &str = "[mobility]\nmodel = \"static\"\n\
    places = { west = [0, 0], east = [400, 0], car = [[0, 10, 0], [20, 390, 0]] }\n";

fn read(radio: &str, cells: &str, rest: &str) -> Result<Medium, String> {
    let text = format!("{NODES}[radio]\n{radio}\n[radio.cells]\n{cells}\n{PLACES}{rest}");
    let scenario = ScenarioFile::from_text("cells.toml", text).scenario(None, &[]);
    scenario.map(|scenario| scenario.plan.media[0].clone()).map_err(|error| error.to_string())
}

const BOTH: &str = "base_stations = [\"west\", \"east\"]";

#[test]
fn base_stations_are_on_the_air_with_the_hosts_that_are_named() {
    let keys = format!(
        "{BOTH}\nmeasured_every = \"50 ms\"\nfilter_coefficient = 8\nhysteresis_db = 6\ntime_to_trigger = \"1 s\"\n\
         gap = \"20 ms\"\nforwarding = true\nfallback = {{ car = \"wwan\" }}"
    );
    let medium = read("hosts = [\"car\"]\nchannels = { east = 6 }", &keys, "").unwrap();
    let [west, east, car] = [1, 2, 3].map(NodeId::new);
    assert_eq!(medium.attached, [car, west, east]);
    let MediumModel::Radio(radio) = medium.model else { panic!("no radio") };
    assert_eq!((radio.routing, radio.channels), (Routing::Direct, vec![1, 1, 6]));
    let association = AssociationConfig {
        interval: Duration::from_millis(50),
        filter_coefficient: 8,
        hysteresis_db: 6.0,
        time_to_trigger: Duration::from_secs(1),
        gap: Duration::from_millis(20),
    };
    let fallback = vec![(car, prismux_plan::LinkId::new(2))];
    let expected = Cells {
        base_stations: vec![west, east],
        association,
        forwards: true,
        fallback,
        relays_below_db: None,
    };
    assert_eq!(radio.cells, Some(expected));
    let place = |s, x_m| (Instant::from_secs(s), Position { x_m, y_m: 0.0 });
    assert_eq!(Some(&radio.mobility[0]), Mobility::through(&[place(0, 10.0), place(20, 390.0)]).as_ref());
}

#[test]
fn what_is_left_out_is_ltes() {
    let medium = read("hosts = [\"car\"]", BOTH, "").unwrap();
    let MediumModel::Radio(radio) = medium.model else { panic!("no radio") };
    let cells = radio.cells.unwrap();
    assert_eq!(cells.association, AssociationConfig::lte());
    assert!(!cells.forwards && cells.fallback.is_empty());
}

#[test]
fn what_cannot_be_is_said_with_a_way_out() {
    let hosts = "hosts = [\"car\"]";
    let with = |more: &str| format!("{BOTH}\n{more}");
    let slots = "hosts = [\"car\"]\nslots = { owners = [\"car\"], slot = \"5 ms\" }";
    for (radio, cells, rest, expected) in [
        ("", BOTH.to_string(), "", "the hosts that hand over between the base stations"),
        (hosts, String::new(), "", "the routers that are base stations"),
        (hosts, "base_stations = []".into(), "", "found none"),
        (hosts, "base_stations = [\"west\", \"west\"]".into(), "", "\"west\" is there twice"),
        (
            hosts,
            "base_stations = [\"server\"]".into(),
            "",
            "\"server\" is no router, and would forward nothing",
        ),
        (hosts, "base_stations = [\"north\"]".into(), "", "there is no \"north\" among the nodes"),
        (hosts, with("hysteresis_db = 21"), "", "20"),
        (hosts, with("measured_every = \"10 us\""), "", "more often than every millisecond"),
        (hosts, with("fallback = { server = \"to-west\" }"), "", "\"server\" is no host on the air"),
        (hosts, with("fallback = { car = \"to-west\" }"), "", "\"to-west\" does not end at \"car\""),
        (hosts, with("fallback = { car = \"nowhere\" }"), "", "there is no \"nowhere\" among the links"),
        (hosts, with("fallback = { bus = \"wwan\" }"), "", "there is no \"bus\" among the nodes"),
        (hosts, with("histeresis_db = 3"), "", "hysteresis_db"),
        (hosts, BOTH.into(), "[routing]\nprotocol = \"dsr\"\n", "found a section [routing] too"),
        (slots, BOTH.into(), "", "found slots or polling too"),
    ] {
        let error = read(radio, &cells, rest).expect_err(expected);
        assert!(error.contains(expected), "{cells} {rest}: {error}");
        assert!(error.contains("cells.toml:"), "{error}");
    }
}

#[test]
fn an_event_tunes_a_radio_that_is_there_and_contends() {
    let read = |radio: &str, event: &str| {
        let text = format!("{NODES}[radio]\n{radio}\n{PLACES}[[events]]\nat = \"5 s\"\n{event}\n");
        let text = text.replace("west = [0, 0], east = [400, 0], ", "server = [0, 0], ");
        let scenario = ScenarioFile::from_text("tune.toml", text).scenario(None, &[]);
        scenario.map(|scenario| scenario.plan.events[0].action).map_err(|error| error.to_string())
    };
    let hosts = "hosts = [\"car\", \"server\"]";
    let tuned = Action::Tune { host: NodeId::new(3), channel: 6 };
    assert_eq!(read(hosts, "tune = \"car\"\nchannel = 6"), Ok(tuned));
    let polled =
        "hosts = [\"car\", \"server\"]\nmedium_access = \"802.11b\"\npolling = { access_point = \"server\" }";
    for (radio, event, expected) in [
        (hosts, "tune = \"west\"\nchannel = 6", "\"west\" is not on the air"),
        (hosts, "tune = \"car\"", "the channel"),
        (hosts, "tune = \"car\"\nchannel = 0", "1 to 255"),
        (polled, "tune = \"car\"\nchannel = 6", "the channel of \"car\" cannot be changed"),
    ] {
        let error = read(radio, event).expect_err(expected);
        assert!(error.contains(expected), "{event}: {error}");
    }
}

#[test]
fn access_points_on_channels_of_their_own_each_poll_who_is_there() {
    let text = format!(
        "{NODES}[radio]\nhosts = [\"west\", \"east\", \"car\", \"server\"]\nmedium_access = \"802.11b\"\n\
         channels = {{ west = 1, east = 6, car = [1, 6], server = 6 }}\n\
         polling = {{ access_point = [\"west\", \"east\"] }}\n{PLACES}"
    );
    let text = text.replace("places = {", "places = { server = [200, 0],");
    let scenario = ScenarioFile::from_text("polls.toml", text).scenario(None, &[]).unwrap();
    let MediumModel::Radio(radio) = &scenario.plan.media[0].model else { panic!("no radio") };
    let polls = |radios: &[u32]| Role::AccessPoint(radios.iter().copied().map(HostId).collect());
    // The car's second radio is the fifth of all.
    assert_eq!(radio.roles, [polls(&[2]), polls(&[4, 3]), Role::Station, Role::Station]);
    assert_eq!(radio.further_radios[0].role, Role::Station);
}

#[test]
fn a_walk_needs_times_that_grow() {
    for walk in [
        "[[0, 1, 2], [0, 5, 5]]",
        "[]",
        "[[0, 1]]",
        "[[0, 1, 2], [\"1 s\", 5, 5]]",
        "[[-1, 0, 0], [5, 1, 1]]",
    ] {
        let text = NODES.replace(
            "[flows]",
            &format!(
                "[radio]\nhosts = [\"car\", \"server\"]\n[mobility]\nmodel = \"static\"\n\
             places = {{ server = [0, 0], car = {walk} }}\n[routing]\nprotocol = \"direct\"\n[flows]"
            ),
        );
        let error =
            ScenarioFile::from_text("walk.toml", text).scenario(None, &[]).expect_err(walk).to_string();
        assert!(error.contains("mobility.places.car"), "{walk}: {error}");
    }
}
