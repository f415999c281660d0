package main

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	ephemeralschema "github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	providerschema "github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// modernProvider has what only the newer library does: identity, write-only attributes, functions, ephemeral resources.
type modernProvider struct{}

func (*modernProvider) Metadata(_ context.Context, _ provider.MetadataRequest, answer *provider.MetadataResponse) {
	answer.TypeName = "peer"
}

func (*modernProvider) Schema(_ context.Context, _ provider.SchemaRequest, answer *provider.SchemaResponse) {
	answer.Schema = providerschema.Schema{Attributes: map[string]providerschema.Attribute{
		"region": providerschema.StringAttribute{Optional: true},
	}}
}

func (*modernProvider) Configure(context.Context, provider.ConfigureRequest, *provider.ConfigureResponse) {
}

func (*modernProvider) DataSources(context.Context) []func() datasource.DataSource { return nil }

func (*modernProvider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{func() resource.Resource { return &modern{} }}
}

func (*modernProvider) EphemeralResources(context.Context) []func() ephemeral.EphemeralResource {
	return []func() ephemeral.EphemeralResource{func() ephemeral.EphemeralResource { return &token{} }}
}

func (*modernProvider) Functions(context.Context) []func() function.Function {
	return []func() function.Function{func() function.Function { return &twice{} }}
}

type modern struct{}

type modernModel struct {
	ID     types.String `tfsdk:"id"`
	Name   types.String `tfsdk:"name"`
	Secret types.String `tfsdk:"secret"`
	Length types.Int64  `tfsdk:"length"`
}

func (*modern) Metadata(_ context.Context, _ resource.MetadataRequest, answer *resource.MetadataResponse) {
	answer.TypeName = "peer_modern"
}

func (*modern) Schema(_ context.Context, _ resource.SchemaRequest, answer *resource.SchemaResponse) {
	answer.Schema = schema.Schema{Version: 2, Attributes: map[string]schema.Attribute{
		"id": schema.StringAttribute{Computed: true, PlanModifiers: []planmodifier.String{
			stringplanmodifier.UseStateForUnknown(),
		}},
		"name": schema.StringAttribute{Required: true, PlanModifiers: []planmodifier.String{
			stringplanmodifier.RequiresReplace(),
		}},
		"secret": schema.StringAttribute{Optional: true, WriteOnly: true},
		"length": schema.Int64Attribute{Computed: true},
	}}
}

func (*modern) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, answer *resource.IdentitySchemaResponse) {
	answer.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"id": identityschema.StringAttribute{RequiredForImport: true},
	}}
}

func (*modern) Create(ctx context.Context, request resource.CreateRequest, answer *resource.CreateResponse) {
	var plan modernModel
	var secret types.String
	answer.Diagnostics.Append(request.Plan.Get(ctx, &plan)...)
	answer.Diagnostics.Append(request.Config.GetAttribute(ctx, path.Root("secret"), &secret)...)
	plan.ID = types.StringValue("modern-" + plan.Name.ValueString())
	plan.Length = types.Int64Value(int64(len(secret.ValueString())))
	answer.Diagnostics.Append(answer.State.Set(ctx, plan)...)
	answer.Diagnostics.Append(answer.Private.SetKey(ctx, "made", []byte(`{"by":"create"}`))...)
	answer.Diagnostics.Append(answer.Identity.SetAttribute(ctx, path.Root("id"), plan.ID)...)
}

func (*modern) Read(ctx context.Context, request resource.ReadRequest, answer *resource.ReadResponse) {
	made, problems := request.Private.GetKey(ctx, "made")
	answer.Diagnostics.Append(problems...)
	if string(made) != `{"by":"create"}` {
		answer.Diagnostics.AddError("Private data lost", string(made))
	}
}

func (*modern) Update(ctx context.Context, request resource.UpdateRequest, answer *resource.UpdateResponse) {
	answer.State.Raw = request.Plan.Raw
}

func (*modern) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}

type token struct{}

type tokenModel struct {
	User  types.String `tfsdk:"user"`
	Token types.String `tfsdk:"token"`
}

func (*token) Metadata(_ context.Context, _ ephemeral.MetadataRequest, answer *ephemeral.MetadataResponse) {
	answer.TypeName = "peer_token"
}

func (*token) Schema(_ context.Context, _ ephemeral.SchemaRequest, answer *ephemeral.SchemaResponse) {
	answer.Schema = ephemeralschema.Schema{Attributes: map[string]ephemeralschema.Attribute{
		"user":  ephemeralschema.StringAttribute{Required: true},
		"token": ephemeralschema.StringAttribute{Computed: true},
	}}
}

func (*token) Open(ctx context.Context, request ephemeral.OpenRequest, answer *ephemeral.OpenResponse) {
	var model tokenModel
	answer.Diagnostics.Append(request.Config.Get(ctx, &model)...)
	model.Token = types.StringValue("token of " + model.User.ValueString())
	answer.Diagnostics.Append(answer.Result.Set(ctx, model)...)
}

type twice struct{}

func (*twice) Metadata(_ context.Context, _ function.MetadataRequest, answer *function.MetadataResponse) {
	answer.Name = "twice"
}

func (*twice) Definition(_ context.Context, _ function.DefinitionRequest, answer *function.DefinitionResponse) {
	answer.Definition = function.Definition{
		Parameters: []function.Parameter{function.StringParameter{Name: "text"}},
		Return:     function.StringReturn{},
	}
}

func (*twice) Run(ctx context.Context, request function.RunRequest, answer *function.RunResponse) {
	var text string
	answer.Error = function.ConcatFuncErrors(request.Arguments.Get(ctx, &text))
	if text == "bad" {
		answer.Error = function.NewArgumentFuncError(0, "bad is not doubled")
		return
	}
	answer.Error = function.ConcatFuncErrors(answer.Result.Set(ctx, text+text))
}
