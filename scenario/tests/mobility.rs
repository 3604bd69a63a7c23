//! Hosts with places of their own stay there, whatever the others do.
use prismux_plan::MediumModel;
use prismux_scenario::ScenarioFile;
use prismux_wireless::{Mobility, Position};

fn mobility(model: &str) -> Vec<Mobility> {
    let text = format!(
        "duration = \"1 s\"\n[nodes]\nbase = {{ kind = \"host\" }}\nh = {{ kind = \"host\", count = 2 }}\n[radio]\n\
         medium_access = \"ns-2\"\n[mobility]\nmodel = \"{model}\"\narea_m = [400, 300]\n\
         places = {{ base = [200, 150] }}\n[routing]\nprotocol = \"dsr\"\n\
         [flows]\nf = {{ from = \"h-1\", to = \"base\" }}\n"
    );
    let file = ScenarioFile::from_text("places.toml", text);
    let scenario = file.scenario(None, &[]).unwrap_or_else(|error| panic!("{model}\n{error}"));
    match scenario.plan.media.first().map(|medium| &medium.model) {
        Some(MediumModel::Radio(radio)) => radio.mobility.clone(),
        other => panic!("no radio: {other:?}"),
    }
}

#[test]
fn a_base_station_stays_in_its_place_while_the_others_move() {
    for model in ["static", "random-waypoint", "gauss-markov", "manhattan"] {
        let mobility = mobility(model);
        assert_eq!(mobility[0], Mobility::Static(Position { x_m: 200.0, y_m: 150.0 }), "{model}");
        assert_eq!(mobility[1], mobility[2], "{model}");
        assert!(!matches!(mobility[1], Mobility::Static(_)), "{model}");
    }
}
