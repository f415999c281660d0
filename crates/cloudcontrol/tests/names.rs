//! Names against a recorded table of the existing provider; `GROMA_AWSCC_NAMES` may name a larger table of the same form
//! (`cfn type <tab> resource type <tab> plural data source or -`).

use groma_cloudcontrol::names;

#[test]
fn cc_02_names_of_the_recorded_table() {
    let table = match std::env::var("GROMA_AWSCC_NAMES") {
        Ok(path) => std::fs::read_to_string(path).unwrap(),
        Err(_) => include_str!("data/names.tsv").to_owned(),
    };
    let mut rows = 0;
    let mut wrong = Vec::new();
    for line in table.lines().filter(|line| !line.starts_with("cfn_type")) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [cfn, resource, many] = columns[..] else { panic!("not a row: {line}") };
        rows += 1;
        if resource != "-" && names::resource_type(cfn).as_deref() != Some(resource) {
            wrong.push(format!("{cfn}: {:?} instead of {resource}", names::resource_type(cfn)));
        }
        if many != "-" && names::plural_data_source(cfn).as_deref() != Some(many) {
            wrong.push(format!("{cfn}: {:?} instead of {many}", names::plural_data_source(cfn)));
        }
    }
    assert!(rows >= 80, "only {rows} rows");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
