package main

import (
	"context"
	"os"
	"time"

	"github.com/hashicorp/terraform-plugin-sdk/v2/diag"
	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/schema"
)

// legacyProvider has what only the older library does: its type system, blocks with defaults, timeouts.
func legacyProvider() *schema.Provider {
	thing := &schema.Resource{
		Schema: map[string]*schema.Schema{
			"name":  {Type: schema.TypeString, Required: true},
			"color": {Type: schema.TypeString, Optional: true, Default: "green"},
			"place": {Type: schema.TypeString, Optional: true, ForceNew: true},
			"made":  {Type: schema.TypeString, Computed: true},
			"rule": {Type: schema.TypeSet, Optional: true, Elem: &schema.Resource{Schema: map[string]*schema.Schema{
				"port":     {Type: schema.TypeInt, Required: true},
				"protocol": {Type: schema.TypeString, Optional: true, Default: "tcp"},
			}}},
		},
		Timeouts: &schema.ResourceTimeout{Create: schema.DefaultTimeout(5 * time.Minute)},
		Importer: &schema.ResourceImporter{StateContext: schema.ImportStatePassthroughContext},
		CreateContext: func(ctx context.Context, data *schema.ResourceData, _ any) diag.Diagnostics {
			switch data.Get("name") {
			case "crash":
				os.Exit(3)
			case "panic":
				panic("the peer panics")
			case "hang":
				time.Sleep(time.Hour)
			}
			data.SetId("legacy-" + data.Get("name").(string))
			return diag.FromErr(data.Set("made", data.Timeout(schema.TimeoutCreate).String()))
		},
		ReadContext:   func(context.Context, *schema.ResourceData, any) diag.Diagnostics { return nil },
		UpdateContext: func(context.Context, *schema.ResourceData, any) diag.Diagnostics { return nil },
		DeleteContext: func(context.Context, *schema.ResourceData, any) diag.Diagnostics { return nil },
	}
	return &schema.Provider{
		Schema:       map[string]*schema.Schema{"region": {Type: schema.TypeString, Optional: true}},
		ResourcesMap: map[string]*schema.Resource{"peer_legacy": thing},
	}
}
